package httpsource

import (
	"context"
	"net/http"
	"time"

	"sundry/upstreams"
)

// partsMax bounds the parts of one answer, each of which is a request.
const partsMax = 20

// refusedMax is how many parts may be refused as asked for too often, before the
// others are not asked for: one refusal may be about that part alone.
const refusedMax = 2

// fetch makes the request, or those of its parts.
func (f *fetcher) fetch(ctx context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	parts, err := f.listParts(ctx, a)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return f.fetchOne(ctx, a)
	}
	return f.fetchParts(ctx, a, parts)
}

// listParts returns the parts; nil for a request that has none.
func (f *fetcher) listParts(ctx context.Context, a *upstreams.Attempt) ([]any, error) {
	if f.partsProgram == nil {
		return f.parts, nil
	}
	v, err := f.partsProgram.One(ctx, nil, a.Env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: %w", err)
	}
	list, _ := v.([]any)
	if len(list) == 0 || len(list) > partsMax {
		return nil, upstreams.Errorf(upstreams.Malformed, "parts: expected an array of 1 to %d, got %d", partsMax, len(list))
	}
	return list, nil
}

// fetchParts fetches every part, and judges each reply by itself. A part that
// failed is null in the result. Only if all failed is the result an error: that of
// the first part.
func (f *fetcher) fetchParts(ctx context.Context, a *upstreams.Attempt, parts []any) (*upstreams.Reply, error) {
	ctx, cancel := leaveTime(ctx)
	defer cancel()
	bodies := make([]any, len(parts))
	fetched, refused := 0, 0
	var first error
	for i, part := range parts {
		a.SetPlaceholder("part", part)
		body, err := f.fetchPart(upstreams.AtStep(ctx, "", i), a)
		if err == nil {
			bodies[i] = body
			fetched++
			continue
		}
		if first == nil {
			first = err
		}
		a.Stage("failed part", a.Shown(err).Error())
		if upstreams.KindOf(err) == upstreams.Limited {
			refused++
		}
		if refused == refusedMax || ctx.Err() != nil {
			break
		}
	}
	if fetched == 0 {
		return nil, first
	}
	return &upstreams.Reply{Status: http.StatusOK, Body: bodies, Judged: true}, nil
}

// leaveTime ends the fetching of parts before the source's time is over, so that
// the parts which came can still be mapped.
func leaveTime(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/10))
}

// fetchPart fetches one part and judges its reply.
func (f *fetcher) fetchPart(ctx context.Context, a *upstreams.Attempt) (any, error) {
	r, err := f.fetchOne(ctx, a)
	if err != nil {
		return nil, err
	}
	return r.Body, upstreams.Judge(ctx, a.Rules, r, a.Env)
}
