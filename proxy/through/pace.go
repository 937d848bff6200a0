package through

import "time"

// slowest is how many bytes a second a client has to send, or to take, on the whole.
const slowest = 1 << 10

// pace bounds how long this service waits for a client: never longer than idle at a time, and, on the whole, idle and a
// second for each rate bytes. The time in which the client waits does not count.
type pace struct {
	idle   time.Duration
	rate   int64 // bytes a second
	waited time.Duration
	moved  int64 // bytes
}

// left returns how long the client may take for what it does next; not more than zero means that it is too slow.
func (p *pace) left() time.Duration {
	return min(p.idle, p.idle+time.Duration(p.moved/p.rate)*time.Second-p.waited)
}

// note notes that the client took some time for n bytes.
func (p *pace) note(took time.Duration, n int) {
	p.waited += took
	p.moved += int64(n)
}
