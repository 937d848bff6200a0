package upstreams

import (
	"context"
	"fmt"
	"maps"
	"time"

	"sundry/upstreams/jq"
)

// prepare makes the steps before the source's own request, then computes its
// placeholders.
func (s *Source) prepare(ctx context.Context, in *input) error {
	in.values = make(map[string]any, len(in.env.Params)+len(s.Vars)+len(s.Secrets)+len(s.Before))
	maps.Copy(in.values, in.env.Params)
	maps.Copy(in.values, s.Secrets)
	for i := range s.Before {
		if err := s.Before[i].Do(s.mark(ctx, in), in); err != nil {
			return err
		}
	}
	return in.compute(ctx, s.Vars)
}

// mark tells a replay, or who records, whose attempt it is.
func (s *Source) mark(ctx context.Context, in *input) context.Context {
	if s.env.Replay == nil && s.env.Record == nil {
		return ctx
	}
	return withPosition(ctx, Position{Endpoint: s.endpoint, Source: s.Declared, Call: in.call})
}

// understand maps the reply to data and fetches the picture.
func (s *Source) understand(ctx context.Context, in *input, r *reply) (Answer, error) {
	env := in.env
	a := Answer{Source: s.Name, Data: r.body, Blob: r.blob, Since: in.since, LastResort: s.LastResort}
	var err error
	if s.Map != nil {
		if a.Data, err = s.Map.One(ctx, r.body, env); err != nil {
			return Answer{}, fail(Malformed, "map: %w", err)
		}
		if a.Data == nil {
			return Answer{}, fail(Malformed, "map: the answer holds nothing to map")
		}
	}
	in.stage("data", a.Data)
	if s.Expires != nil {
		if a.Expires, err = s.expiry(ctx, a.Data, env); err != nil {
			return Answer{}, err
		}
	}
	if s.Picture != nil {
		a.Blob, err = s.Picture.Fetch(atStep(s.mark(ctx, in), "picture", 0), a.Data, in, env)
	}
	return a, err
}

func (s *Source) expiry(ctx context.Context, data any, env *jq.Env) (time.Time, error) {
	v, err := s.Expires.One(ctx, data, env)
	if err != nil {
		return time.Time{}, fail(Malformed, "expires: %w", err)
	}
	switch v := v.(type) {
	case nil:
		return time.Time{}, nil
	case int:
		return time.Unix(int64(v), 0), nil
	case float64:
		return time.Unix(int64(v), 0), nil
	}
	return time.Time{}, &Error{Kind: Malformed, Err: fmt.Errorf("expires: want unix seconds, got %T", v)}
}
