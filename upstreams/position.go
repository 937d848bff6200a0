package upstreams

import "context"

// positionKey finds the position in a request's context.
type positionKey struct{}

// Position is which request of which attempt this is.
type Position struct {
	Endpoint, Source string // as declared
	Call             *Call
	Step             string // "" for the source's own request
	Nth              int    // among those of the step
}

// PositionOf reads it of the context of a request; false where nobody replays or
// records.
func PositionOf(ctx context.Context) (Position, bool) {
	at, ok := ctx.Value(positionKey{}).(Position)
	return at, ok
}

// WithPosition marks the context of an attempt's step.
func WithPosition(ctx context.Context, at Position) context.Context {
	return context.WithValue(ctx, positionKey{}, at)
}

// AtStep marks the context of the nth request of a step of the same attempt.
func AtStep(ctx context.Context, step string, nth int) context.Context {
	at, ok := PositionOf(ctx)
	if !ok {
		return ctx
	}
	at.Step, at.Nth = step, nth
	return WithPosition(ctx, at)
}

// AtNth marks the context of the nth request of the step that it is of.
func AtNth(ctx context.Context, nth int) context.Context {
	at, _ := PositionOf(ctx)
	return AtStep(ctx, at.Step, nth)
}
