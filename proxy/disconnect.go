package proxy

import (
	"context"
	"time"
)

// disconnectTimeout is how long a caller is waited for whose side of the connection has
// ended: no call upstream outlives the last who wanted it by more than a second.
const disconnectTimeout = 700 * time.Millisecond

// waitContext is the context of a caller who waits for a fill. It ends later than
// the request's own, which net/http ends with the caller's side of the
// connection: whoever half-closes (nc -N, some balancers) still reads. One who
// left looks the same until something is written, so that patience is short: a
// fill that nobody waits for any more is cancelled.
//
// It is a pointer in disguise and makes nothing until somebody asks for its
// end, so that a hit, which waits for nobody, pays nothing for it.
type waitContext struct{ req *request }

var _ context.Context = waitContext{}

// waitState is what a caller who waits needs.
type waitState struct {
	ctx  context.Context
	stop func()
}

// Deadline implements context.Context.
func (c waitContext) Deadline() (time.Time, bool) { return c.req.r.Context().Deadline() }

// Value implements context.Context.
func (c waitContext) Value(key any) any { return c.req.r.Context().Value(key) }

// Done implements context.Context.
func (c waitContext) Done() <-chan struct{} { return c.state().ctx.Done() }

// Err implements context.Context.
func (c waitContext) Err() error { return c.state().ctx.Err() }

// state makes what is needed when it is first asked for.
func (c waitContext) state() *waitState {
	if w := c.req.wait.Load(); w != nil {
		return w
	}
	w := newWaitState(c.req.r.Context(), c.req.route.disconnectTimeout)
	if !c.req.wait.CompareAndSwap(nil, w) {
		w.end()
	}
	return c.req.wait.Load()
}

// newWaitState ends a timeout after the request's own context. Call end.
func newWaitState(request context.Context, timeout time.Duration) *waitState {
	ctx, cancel := context.WithCancel(context.WithoutCancel(request))
	unhook := context.AfterFunc(request, func() {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-ctx.Done():
		}
	})
	return &waitState{ctx, func() { unhook(); cancel() }}
}

// end frees it; nil has nothing to free.
func (w *waitState) end() {
	if w != nil {
		w.stop()
	}
}
