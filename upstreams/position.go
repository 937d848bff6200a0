package upstreams

import "context"

// positionKey finds the position in a request's context.
type positionKey struct{}

// Position says which request of which attempt a context belongs to. A replay finds
// the recorded exchange by it, a recorder names what it records by it.
type Position struct {
	Endpoint, Source string // as declared
	Call             *Call
	Step             string // "" for the source's own request
	Nth              int    // among those of the step
}

// PositionOf is the position that ctx holds; false where nothing is replayed or
// recorded.
func PositionOf(ctx context.Context) (Position, bool) {
	at, ok := ctx.Value(positionKey{}).(Position)
	return at, ok
}

// WithPosition is ctx with a position.
func WithPosition(ctx context.Context, at Position) context.Context {
	return context.WithValue(ctx, positionKey{}, at)
}

// AtStep is ctx with the position of the nth request of a step of the same attempt.
func AtStep(ctx context.Context, step string, nth int) context.Context {
	at, ok := PositionOf(ctx)
	if !ok {
		return ctx
	}
	at.Step, at.Nth = step, nth
	return WithPosition(ctx, at)
}

// AtNth is ctx with the position of the nth request of the same step.
func AtNth(ctx context.Context, nth int) context.Context {
	at, _ := PositionOf(ctx)
	return AtStep(ctx, at.Step, nth)
}
