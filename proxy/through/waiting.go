package through

import (
	"errors"
	"time"
)

// patience is how long callers wait for an origin where what is stored may be served in the place of an error.
const patience = 3 * time.Second

// ErrShed means that too many requests wait already.
var ErrShed = errors.New("too many requests are waiting for the origin")

// mayWait reports whether the request may wait for the origin.
func (c *call) mayWait() bool {
	c.waits = c.Admit != nil && c.Admit(c.client, c.began)
	return c.waits || c.Admit == nil
}

// shed answers a request that may not with what is stored, or says so.
func (c *call) shed(e *errand) {
	a := e.failed(ErrShed)
	c.respond(&a)
}

// endWait is called once the caller waits for no head any more: its place is free, and no interim response gets through.
func (c *call) endWait() {
	c.waiting.Lock()
	defer c.waiting.Unlock()
	c.over = true
	if c.waits {
		c.waits = false
		c.Leave(c.client)
	}
}

// hasPatience reports whether a caller gets what is stored where the origin takes too long.
func (c *call) hasPatience(e *errand) bool {
	return e.stored != nil && e.stored.Left(c.began) <= 0 && e.stored.Usable(false, c.began)
}

// wait waits for the head of a flight. It does not return if the caller leaves.
func (c *call) wait(f *flight, e *errand) answer {
	defer c.endWait()
	var enough <-chan time.Time
	if c.hasPatience(e) {
		timer := time.NewTimer(f.began.Add(patience).Sub(c.began))
		defer timer.Stop()
		enough = timer.C
	}
	select {
	case <-f.head:
		return f.answer
	case <-enough:
		f.keep()
		return e.stale(0)
	case <-c.r.Context().Done():
	}
	c.gone()
	return answer{}
}
