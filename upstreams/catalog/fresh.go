package catalog

import (
	"context"
	"fmt"
	"math"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/jq"
)

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
		return 0, fmt.Errorf("fresh: want a number of seconds from 1, or null, got %v", v)
	}
	return time.Duration(seconds) * time.Second, nil
}
