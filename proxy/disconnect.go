package proxy

import (
	"context"
	"time"
)

// patience is how long a caller is waited for whose side of the connection has
// ended: no call upstream outlives the last who wanted it by more than a second.
const patience = 700 * time.Millisecond

// waiting is the context of a caller who waits for a fill. It ends later than
// the request's own, which net/http ends with the caller's side of the
// connection: whoever half-closes (nc -N, some balancers) still reads. One who
// left looks the same until something is written, so that patience is short: a
// fill that nobody waits for any more is cancelled.
//
// It is a pointer in disguise and makes nothing until somebody asks for its
// end, so that a hit, which waits for nobody, pays nothing for it.
type waiting struct{ x *exchange }

var _ context.Context = waiting{}

// wait is what a caller who waits needs.
type wait struct {
	ctx  context.Context
	stop func()
}

// Deadline implements context.Context.
func (c waiting) Deadline() (time.Time, bool) { return c.x.r.Context().Deadline() }

// Value implements context.Context.
func (c waiting) Value(key any) any { return c.x.r.Context().Value(key) }

// Done implements context.Context.
func (c waiting) Done() <-chan struct{} { return c.begun().ctx.Done() }

// Err implements context.Context.
func (c waiting) Err() error { return c.begun().ctx.Err() }

// begun makes what is needed when it is first asked for.
func (c waiting) begun() *wait {
	if w := c.x.wait.Load(); w != nil {
		return w
	}
	w := newWait(c.x.r.Context(), c.x.route.patience)
	if !c.x.wait.CompareAndSwap(nil, w) {
		w.end()
	}
	return c.x.wait.Load()
}

// newWait ends patience after the request's own context. Call end.
func newWait(asked context.Context, patience time.Duration) *wait {
	ctx, cancel := context.WithCancel(context.WithoutCancel(asked))
	unhook := context.AfterFunc(asked, func() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return &wait{ctx, func() { unhook(); cancel() }}
}

// end frees it; nil has nothing to free.
func (w *wait) end() {
	if w != nil {
		w.stop()
	}
}
