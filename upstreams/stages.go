package upstreams

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"time"
)

// prepare computes the placeholders' values.
func (s *Source) prepare(ctx context.Context, in *input, env *Env) error {
	env.Vars = make(map[string]any, len(s.vars))
	in.values = make(map[string]any, len(env.Params)+len(s.vars)+len(s.secrets))
	maps.Copy(in.values, env.Params)
	for name, q := range s.vars {
		v, err := q.One(ctx, nil, env)
		if err != nil {
			return fail(Internal, "var %s: %w", name, err)
		}
		env.Vars[name], in.values[name] = v, v
	}
	maps.Copy(in.values, s.secrets)
	for _, v := range s.secrets {
		in.hidden = append(in.hidden, url.QueryEscape(asText(v)))
	}
	return nil
}

// exchange asks under the host's breaker; the verdict is part of what the
// breaker learns, because upstreams say "not now" with status 200.
func (s *Source) exchange(ctx context.Context, in *input, env *Env) (*reply, error) {
	done := func(error) {}
	if s.host != nil {
		var err error
		if done, err = s.host.enter(ctx); err != nil {
			return nil, err
		}
	}
	r, err := s.kind.fetch(s.mark(ctx, in), in)
	if err == nil {
		env.Status, env.Location = r.status, r.header.Get("Location")
		err = judge(ctx, s.rules, r, env)
	}
	done(err)
	return r, err
}

// mark tells a replay whose attempt it is.
func (s *Source) mark(ctx context.Context, in *input) context.Context {
	if s.env.Replay == nil {
		return ctx
	}
	return withReplay(ctx, replayed{s.endpoint, s.bare, in.call, 0})
}

// understand maps the reply to data and fetches the picture.
func (s *Source) understand(ctx context.Context, in *input, env *Env, r *reply) (Answer, error) {
	a := Answer{Source: s.Name, Data: r.body, Blob: r.blob}
	var err error
	if s.mapping != nil {
		if a.Data, err = s.mapping.One(ctx, r.body, env); err != nil {
			return Answer{}, fail(Malformed, "map: %w", err)
		}
		if a.Data == nil {
			return Answer{}, fail(Malformed, "map: the answer holds nothing to map")
		}
	}
	in.stage("data", a.Data)
	if s.expires != nil {
		if a.Expires, err = s.expiry(ctx, a.Data, env); err != nil {
			return Answer{}, err
		}
	}
	if s.picture != nil {
		a.Blob, err = s.picture.fetch(atStep(s.mark(ctx, in), 1), a.Data, in, env)
	}
	return a, err
}

func (s *Source) expiry(ctx context.Context, data any, env *Env) (time.Time, error) {
	v, err := s.expires.One(ctx, data, env)
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
