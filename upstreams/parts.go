package upstreams

import (
	"context"
	"net/http"

	"sundry/upstreams/redact"
)

// Fetch implements Fetcher.
func (g *getter) Fetch(ctx context.Context, in *input) (*reply, error) {
	parts, err := g.partsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return g.one(ctx, in)
	}
	return g.each(ctx, in, parts)
}

// each asks for every part. They are judged one by one: what came is kept, a
// part that did not is null in its place. Only when none came, the failure of
// the first one stands for all.
func (g *getter) each(ctx context.Context, in *input, parts []any) (*reply, error) {
	bodies := make([]any, len(parts))
	came := 0
	var failed error
	for i, part := range parts {
		in.values["part"] = part
		body, err := g.part(atStep(ctx, "", i), in)
		if err == nil {
			bodies[i] = body
			came++
			continue
		}
		if failed == nil {
			failed = err
		}
		if in.stage("part that did not come", err.Error()); hopeless(ctx, err) {
			break
		}
	}
	if came == 0 {
		return nil, failed
	}
	return &reply{status: http.StatusOK, body: bodies, judged: true}, nil
}

// hopeless tells that the parts to come would not come either: we ask too
// often, or time is over.
func hopeless(ctx context.Context, err error) bool { return ctx.Err() != nil || KindOf(err) == Limited }

// part asks for one and judges it.
func (g *getter) part(ctx context.Context, in *input) (any, error) {
	r, err := g.one(ctx, in)
	if err != nil {
		return nil, err
	}
	return r.body, judge(ctx, in.rules, r, in.env)
}

// partsMax bounds how often a source asks for one answer.
const partsMax = 20

// partsOf lists the parts; nil for a request that has none.
func (g *getter) partsOf(ctx context.Context, in *input) ([]any, error) {
	if g.listing == nil {
		return g.parts, nil
	}
	v, err := g.listing.One(ctx, nil, in.env)
	if err != nil {
		return nil, fail(Malformed, "parts: %w", err)
	}
	list, _ := v.([]any)
	if len(list) == 0 || len(list) > partsMax {
		return nil, fail(Malformed, "parts: want a list of 1 to %d, got %d", partsMax, len(list))
	}
	if g.signsParts && len(in.hidden) > 0 {
		in.derive(v, redact.DerivedMin)
	}
	return list, nil
}
