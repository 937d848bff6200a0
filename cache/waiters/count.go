// Package waiters counts the callers that wait for a flight, and says when it goes on: of an endpoint a fill, of an API a request to the
// origin.
package waiters

// State of a flight.
type State uint8

// The states. A flight begins as Running, with no caller yet.
const (
	Running   State = iota // as long as a caller waits for it
	Detached               // goes on without callers, as a refresh does
	Abandoned              // its last caller has left: it is cancelled, and nobody joins it any more
)

// Count is the number of callers of a flight, and the state of the flight. It is not safe for concurrent use.
type Count struct {
	state State
	n     int
}

// Join adds a caller. It reports false if the flight is abandoned.
func (c *Count) Join() bool {
	if c.state == Abandoned {
		return false
	}
	c.n++
	return true
}

// Leave takes a caller away, and reports whether the flight is abandoned by that.
func (c *Count) Leave() bool {
	c.n--
	return c.abandon()
}

// Detach lets the flight go on without callers.
func (c *Count) Detach() {
	if c.state == Running {
		c.state = Detached
	}
}

// Attach is the opposite of Detach. It reports whether the flight is abandoned by that.
func (c *Count) Attach() bool {
	if c.state == Detached {
		c.state = Running
	}
	return c.abandon()
}

func (c *Count) abandon() bool {
	if c.state != Running || c.n > 0 {
		return false
	}
	c.state = Abandoned
	return true
}

// State returns the state.
func (c *Count) State() State { return c.state }

// N is the number of callers.
func (c *Count) N() int { return c.n }
