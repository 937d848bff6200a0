package catalog

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/upstreams"
	"sundry/upstreams/jq"
)

var editionDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// Loader loads the answer for an input: what the cache calls to fill a key.
type Loader struct {
	Input Input
	// Watch is called with every attempt; it may be nil.
	Watch func(upstreams.AttemptReport)
	// Trace is that of the request that started the fill.
	Trace upstreams.Trace
	// Loop lists the instances of this service that the request came through.
	Loop string
}

var _ cache.QuotaAware = (*Loader)(nil)

// Load implements cache.Loader: ask the chain, then make every form of the
// answer. Data that cannot be presented is the catalog's mistake.
func (l *Loader) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	in := &l.Input
	call := in.Call(time.Now())
	call.Trace, call.Loop, call.Kept = l.Trace, l.Loop, &upstreams.Kept{}
	defer call.Kept.Release()
	chain := in.Form.Chain
	call.Key = in.hash(chain)
	answer, err := chain.Do(ctx, call, hasCopy, l.Watch)
	switch {
	case err == nil:
	case upstreams.KindOf(err) == upstreams.Negative:
		return entry.Content{Source: sourceOf(err), Negative: in.Endpoint.NotFound(ctx, call).Pack()}, nil
	default:
		return entry.Content{}, err
	}
	return in.Endpoint.content(ctx, chain, &answer, call)
}

// Withholds implements cache.QuotaAware: it goes by the quota of the source that would be
// called first.
func (l *Loader) Withholds(ctx context.Context, worth func(left float64) bool) bool {
	chain := l.Input.Form.Chain
	return chain.HasQuota() && chain.Withholds(ctx, l.Input.Call(time.Now()), worth)
}

// hash returns the hash of the key by which breakers weigh a call of a chain; 0 where clients cannot choose it.
func (in *Input) hash(c *Chain) uint64 {
	if !c.MayBeNegative {
		return 0
	}
	return xxhash.Sum64String(in.Key())
}

// sourceOf names the source of a negative answer; "" for a whole chain.
func sourceOf(err error) string {
	if typed, ok := errors.AsType[*upstreams.Error](err); ok {
		return typed.Source
	}
	return ""
}

func (e *Endpoint) content(ctx context.Context, chain *Chain, a *upstreams.Answer, call *upstreams.Call) (entry.Content, error) {
	c := entry.Content{Source: a.Source, Expires: a.Expires, Since: a.Since, LastResort: a.LastResort}
	env := &jq.Env{Params: call.Params, Now: call.Now}
	for _, f := range chain.Forms {
		form, err := f.render(ctx, a, env)
		if err != nil {
			return c, &upstreams.Error{Kind: upstreams.Malformed, Source: a.Source, Err: fmt.Errorf("form %s: %w", f.Name, err)}
		}
		c.Forms = append(c.Forms, form)
	}
	var err error
	if c.Fresh, err = e.freshness(ctx, a, env); err != nil {
		return c, &upstreams.Error{Kind: upstreams.Malformed, Source: a.Source, Err: err}
	}
	if e.edition != nil && a.Data != nil {
		if date, err := e.edition.Text(ctx, a.Data, env); err == nil && editionDate.MatchString(date) {
			c.Edition = date
		}
	}
	return c, nil
}

// freshness is for how long an answer is fresh by its data; 0: the cache rule
// alone decides.
func (e *Endpoint) freshness(ctx context.Context, a *upstreams.Answer, env *jq.Env) (time.Duration, error) {
	if e.fresh == nil || a.Data == nil {
		return 0, nil
	}
	v, err := e.fresh.One(ctx, a.Data, env)
	if err != nil {
		return 0, fmt.Errorf("fresh: %w", err)
	}
	seconds := math.NaN()
	switch v := v.(type) {
	case nil:
		return 0, nil
	case int:
		seconds = float64(v)
	case float64:
		seconds = v
	}
	if !(seconds >= 1 && seconds <= math.MaxUint32) {
		return 0, fmt.Errorf("fresh: expected a number of seconds from 1, or null, got %v", v)
	}
	return time.Duration(seconds) * time.Second, nil
}
