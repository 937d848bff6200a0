package far

import (
	"sync/atomic"
	"time"
)

const (
	// quickReading is how long a round trip takes at most from which the clock of Redis is read well. It may have been read at any instant
	// of the round trip.
	quickReading = 50 * time.Millisecond
	// slowestReading is how long a round trip of a write may take if the clock is read from it.
	slowestReading = 500 * time.Millisecond
	// sameTime is by how much two readings differ that say the same: clocks are read in
	// milliseconds, by programs that are interrupted.
	sameTime = 10 * time.Millisecond
)

// clock translates between this machine's clock and that of Redis, which is the fleet's. It
// keeps what the first reading says until another one contradicts it, so that the times of
// one instance keep their order. The zero value does not know that of Redis.
//
// A clock that is known changes by ask alone: its caller dates purges anew, which are compared with what is read from Redis.
type clock struct {
	ahead atomic.Int64 // by how many milliseconds that of Redis is ahead; dates have no more
	known atomic.Bool
}

// learn notes the time of Redis in the round trip of a write between sent and received, if it is not known yet.
func (c *clock) learn(redis, sent, received time.Time) {
	if !c.known.Load() && received.Sub(sent) <= slowestReading {
		c.read(redis, sent, received)
	}
}

// read notes the time of Redis in a round trip between sent and received.
func (c *clock) read(redis, sent, received time.Time) {
	if redis.IsZero() {
		return
	}
	half := received.Sub(sent) / 2
	ahead := redis.Sub(sent.Add(half))
	if off := ahead - c.off(); !c.known.Load() || off.Abs() > half+sameTime {
		c.ahead.Store(ahead.Milliseconds())
	}
	c.known.Store(true)
}

// ask reads the clock by a call. It makes the call once more if the first one was not quick, since that may have waited for a connection,
// and reads the quicker one. It returns the error of the call.
func (c *clock) ask(call func() (time.Time, error)) error {
	var best struct{ redis, sent, received time.Time }
	for n := range 2 {
		sent := time.Now()
		redis, err := call()
		if err != nil {
			return err
		}
		received := time.Now()
		took := received.Sub(sent)
		if n == 0 || took < best.received.Sub(best.sent) {
			best.redis, best.sent, best.received = redis, sent, received
		}
		if took <= quickReading {
			break
		}
	}
	c.read(best.redis, best.sent, best.received)
	return nil
}

// ofFleet is the time by the clock of Redis at which this machine's shows t.
func (c *clock) ofFleet(t time.Time) time.Time { return t.Add(c.off()) }

// local is the time by this machine's clock at which that of Redis shows t.
func (c *clock) local(t time.Time) time.Time { return t.Add(-c.off()) }

func (c *clock) off() time.Duration { return time.Duration(c.ahead.Load()) * time.Millisecond }
