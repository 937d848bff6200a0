package httpsource

import (
	"context"
	"net/http"

	"sundry/upstreams"
	"sundry/upstreams/redact"
)

// Fetch implements Fetcher.
func (g *getter) Fetch(ctx context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
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
func (g *getter) each(ctx context.Context, in *upstreams.Input, parts []any) (*upstreams.Reply, error) {
	bodies := make([]any, len(parts))
	came := 0
	var failed error
	for i, part := range parts {
		in.Values["part"] = part
		body, err := g.part(upstreams.AtStep(ctx, "", i), in)
		if err == nil {
			bodies[i] = body
			came++
			continue
		}
		if failed == nil {
			failed = err
		}
		if in.Stage("part that did not come", err.Error()); hopeless(ctx, err) {
			break
		}
	}
	if came == 0 {
		return nil, failed
	}
	return &upstreams.Reply{Status: http.StatusOK, Body: bodies, Judged: true}, nil
}

// hopeless tells that the parts to come would not come either: we ask too
// often, or time is over.
func hopeless(ctx context.Context, err error) bool {
	return ctx.Err() != nil || upstreams.KindOf(err) == upstreams.Limited
}

// part asks for one and judges it.
func (g *getter) part(ctx context.Context, in *upstreams.Input) (any, error) {
	r, err := g.one(ctx, in)
	if err != nil {
		return nil, err
	}
	return r.Body, upstreams.Judge(ctx, in.Rules, r, in.Env)
}

// partsMax bounds how often a source asks for one answer.
const partsMax = 20

// partsOf lists the parts; nil for a request that has none.
func (g *getter) partsOf(ctx context.Context, in *upstreams.Input) ([]any, error) {
	if g.listing == nil {
		return g.parts, nil
	}
	v, err := g.listing.One(ctx, nil, in.Env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: %w", err)
	}
	list, _ := v.([]any)
	if len(list) == 0 || len(list) > partsMax {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: want a list of 1 to %d, got %d", partsMax, len(list))
	}
	if g.signsParts && len(in.Hidden) > 0 {
		in.Derive(v, redact.DerivedMin)
	}
	return list, nil
}
