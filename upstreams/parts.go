package upstreams

import (
	"context"
	"net/http"
)

// fetch implements fetcher.
func (g *getter) fetch(ctx context.Context, in *input) (*reply, error) {
	parts, err := g.partsOf(ctx, in)
	if err != nil {
		return nil, err
	}
	if parts == nil {
		return g.one(ctx, in)
	}
	all := make([]any, 0, len(parts))
	for i, part := range parts {
		in.values["part"] = part
		r, err := g.one(atStep(ctx, "", i), in)
		if _, ok := byPart(r); err != nil || !ok {
			return r, err
		}
		all = append(all, r.body)
	}
	return &reply{status: http.StatusOK, body: all}, nil
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
	return list, nil
}

// byPart tells whether a part came well; else its reply stands for all.
func byPart(r *reply) (Kind, bool) {
	if r == nil || r.broken != nil {
		return Malformed, false
	}
	return byStatus(r.status)
}
