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
func (s *Source) prepare(ctx context.Context, in *Input) error {
	in.Values = make(map[string]any, len(in.Env.Params)+len(s.Vars)+len(s.Secrets)+len(s.Before))
	maps.Copy(in.Values, in.Env.Params)
	maps.Copy(in.Values, s.Secrets)
	for i := range s.Before {
		if err := s.Before[i].Do(s.mark(ctx, in), in); err != nil {
			return err
		}
	}
	return in.Compute(ctx, s.Vars)
}

// mark tells a replay, or who records, whose attempt it is.
func (s *Source) mark(ctx context.Context, in *Input) context.Context {
	if s.env.Replay == nil && s.env.Record == nil {
		return ctx
	}
	return WithPosition(ctx, Position{Endpoint: s.endpoint, Source: s.Declared, Call: in.Call})
}

// understand maps the reply to data and fetches the picture.
func (s *Source) understand(ctx context.Context, in *Input, r *Reply) (Answer, error) {
	env := in.Env
	a := Answer{Source: s.Name, Data: r.Body, Blob: r.Blob, Since: in.since, LastResort: s.LastResort}
	var err error
	if s.Map != nil {
		if a.Data, err = s.Map.One(ctx, r.Body, env); err != nil {
			return Answer{}, Errorf(Malformed, "map: %w", err)
		}
		if a.Data == nil {
			return Answer{}, Errorf(Malformed, "map: the answer holds nothing to map")
		}
	}
	in.Stage("data", a.Data)
	if s.Expires != nil {
		if a.Expires, err = s.expiry(ctx, a.Data, env); err != nil {
			return Answer{}, err
		}
	}
	if s.Picture != nil {
		a.Blob, err = s.Picture.Fetch(AtStep(s.mark(ctx, in), "picture", 0), a.Data, in, env)
	}
	return a, err
}

func (s *Source) expiry(ctx context.Context, data any, env *jq.Env) (time.Time, error) {
	v, err := s.Expires.One(ctx, data, env)
	if err != nil {
		return time.Time{}, Errorf(Malformed, "expires: %w", err)
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
