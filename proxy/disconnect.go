package proxy

import (
	"context"
	"time"

	"sundry/cache/clients"
)

// disconnectTimeout is how long a request goes on after the client has closed its
// side of the connection. It is short, so that no upstream call outlives the last
// client that waits for it by more than a second.
const disconnectTimeout = 700 * time.Millisecond

// waitContext is the context of a request that waits for a fill. net/http cancels
// the request's own context as soon as the client closes its side of the
// connection, but a client that only half-closes (nc -N, some load balancers) still
// reads the answer. A client disconnect looks the same until something is written,
// so this context ends a short disconnectTimeout later; a fill without waiters is
// then cancelled.
//
// It is a single pointer, and its state is created when its end is first asked
// for, so that a hit, which does not wait, allocates nothing for it.
type waitContext struct{ req *request }

var _ context.Context = waitContext{}

// waitState is the context of a request that does wait.
type waitState struct {
	ctx  context.Context
	stop func()
}

// Deadline implements context.Context.
func (c waitContext) Deadline() (time.Time, bool) { return c.req.r.Context().Deadline() }

// Value implements context.Context. What is done for the request is done for its client. By the values of the state, package context knows
// it for one of its own, and needs no goroutine to wait for its end.
func (c waitContext) Value(key any) any {
	if key == (clients.Key{}) {
		return c.req.clientID()
	}
	if w := c.req.wait.Load(); w != nil {
		return w.ctx.Value(key)
	}
	return c.req.r.Context().Value(key)
}

// Done implements context.Context.
func (c waitContext) Done() <-chan struct{} { return c.state().ctx.Done() }

// Err implements context.Context.
func (c waitContext) Err() error { return c.state().ctx.Err() }

// state creates the state on first use; it may be called concurrently.
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

// newWaitState ends a timeout after the request's own context. end releases it.
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

// end releases the context; nil has none.
func (w *waitState) end() {
	if w != nil {
		w.stop()
	}
}
