package httpsource

import (
	"context"
	"net/http"

	"sundry/upstreams"
	"sundry/upstreams/redact"
)

// Fetch implements Fetcher.
func (q *request) Fetch(ctx context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	parts, err := q.partsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return q.fetchOne(ctx, in)
	}
	return q.fetchParts(ctx, in, parts)
}

// fetchParts asks for every part. They are judged one by one: what came is kept, a
// part that did not is null in its place. Only when none came, the failure of
// the first one stands for all.
func (q *request) fetchParts(ctx context.Context, in *upstreams.Input, parts []any) (*upstreams.Reply, error) {
	bodies := make([]any, len(parts))
	came := 0
	var failed error
	for i, part := range parts {
		in.Values["part"] = part
		body, err := q.fetchPart(upstreams.AtStep(ctx, "", i), in)
		if err == nil {
			bodies[i] = body
			came++
			continue
		}
		if failed == nil {
			failed = err
		}
		if in.Stage("part that did not come", err.Error()); abortsParts(ctx, err) {
			break
		}
	}
	if came == 0 {
		return nil, failed
	}
	return &upstreams.Reply{Status: http.StatusOK, Body: bodies, Judged: true}, nil
}

// abortsParts tells that the parts to come would not come either: we ask too
// often, or time is over.
func abortsParts(ctx context.Context, err error) bool {
	return ctx.Err() != nil || upstreams.KindOf(err) == upstreams.Limited
}

// fetchPart asks for one and judges it.
func (q *request) fetchPart(ctx context.Context, in *upstreams.Input) (any, error) {
	r, err := q.fetchOne(ctx, in)
	if err != nil {
		return nil, err
	}
	return r.Body, upstreams.Judge(ctx, in.Rules, r, in.Env)
}

// partsMax bounds how often a source asks for one answer.
const partsMax = 20

// partsOf lists the parts; nil for a request that has none.
func (q *request) partsOf(ctx context.Context, in *upstreams.Input) ([]any, error) {
	if q.partsProgram == nil {
		return q.parts, nil
	}
	v, err := q.partsProgram.One(ctx, nil, in.Env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: %w", err)
	}
	list, _ := v.([]any)
	if len(list) == 0 || len(list) > partsMax {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: want a list of 1 to %d, got %d", partsMax, len(list))
	}
	if q.secretParts && len(in.Hidden) > 0 {
		in.Derive(v, redact.DerivedMin)
	}
	return list, nil
}
