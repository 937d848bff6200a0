package through

import (
	"errors"
	"time"
)

// patience is how long callers wait for an origin where what is stored may be served in the place of an error.
const patience = 3 * time.Second

// ErrShed means that too many requests wait already.
var ErrShed = errors.New("too many requests are waiting for the origin")

// LimitedError means that the client of a request has exceeded its rate limit. Wait is the time until it may send one more.
type LimitedError struct{ Wait time.Duration }

// Error implements error.
func (*LimitedError) Error() string { return "the client of this request has exceeded its rate limit" }

// isLimited reports whether the rate limit refuses a request.
func isLimited(err error) bool {
	_, ok := errors.AsType[*LimitedError](err)
	return ok
}

// count counts the request against the rate limit of its client, unless it is counted already. The error is a LimitedError.
func (c *call) count() error {
	if c.counted || c.Limit == nil {
		return nil
	}
	c.counted = true
	if wait, ok := c.Limit(c.client, c.began); !ok {
		return &LimitedError{wait}
	}
	return nil
}

// mayWait counts the request, and returns nil if it may wait for the origin. The error is ErrShed or a LimitedError.
func (c *call) mayWait() error {
	if err := c.count(); err != nil {
		return err
	}
	c.waits = c.Admit != nil && c.Admit(c.client, c.began)
	if !c.waits && c.Admit != nil {
		return ErrShed
	}
	return nil
}

// shed answers a request that may not wait with what is stored, or with the error.
func (c *call) shed(e *errand, err error) {
	a := e.failed(err)
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
	for {
		select {
		case <-f.head:
			return f.answer
		case <-enough:
			if o := e.latest(); o != nil && o.Usable(false, c.began) {
				f.keep()
				return e.stale(o, 0)
			}
		case <-c.r.Context().Done():
			c.gone()
			return answer{}
		}
	}
}
