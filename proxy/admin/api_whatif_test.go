package admin

import (
	"context"
	"errors"
	"math"
	"net/http"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/cache/whatif"
	"sundry/upstreams/catalog"
)

// known is advice on what is requested often, by a few keys and many, and changes at
// random every half hour.
func known(p *cache.Policy) *advisor.Advice {
	change := advisor.Change{Kind: advisor.Random, Interval: 30 * time.Minute}
	return &advisor.Advice{
		Change: change, Verdict: advisor.Set, Recommended: advisor.Outcome{TTL: 4 * time.Minute, Grace: p.Grace},
		Prediction: advisor.Prediction{ChangeRate: 1 / change.Interval.Seconds(), Loads: []advisor.Load{{Keys: 3, Rate: 20}, {Keys: 500, Rate: 0.001}}},
	}
}

// TestWhatIfAgreesWithThePrediction: the simulation and the formulas say the same of each
// candidate rule.
func TestWhatIfAgreesWithThePrediction(t *testing.T) {
	e := &catalog.Endpoint{Name: "own", Policy: cache.Policy{TTL: 30 * time.Minute, Grace: time.Minute, Jitter: cache.DefaultJitter, Eager: cache.DefaultEager, FillTimeout: time.Second}}
	advice := known(&e.Policy)
	rules := candidates(&e.Policy, nil, advice)
	began := time.Now()
	v, err := simulate(t.Context(), e, rules, advice, patternOf(rules, advice))
	if err != nil || len(v.Rules) != 8 {
		t.Fatalf("%+v, %v", v, err)
	}
	t.Logf("%v for %d requests in %.0f h", time.Since(began), v.Requests, v.Simulated/3600)
	for i, r := range v.Rules {
		want := advice.Prediction.Of(&rules[i])
		t.Logf("%v: %.1f calls an hour (%.1f), hits %.4f (%.4f), old %.4f (%.4f)", want.TTL, r.CallsPerHour, want.CallsPerHour, r.HitRatio, want.HitRatio, *r.OldShare, want.OldShare)
		for _, pair := range [][2]float64{{r.CallsPerHour, want.CallsPerHour}, {r.HitRatio, want.HitRatio}, {*r.OldShare, want.OldShare}} {
			if math.Abs(pair[0]-pair[1]) > 0.05*pair[1] {
				t.Errorf("%v: %.4f, predicted %.4f", want.TTL, pair[0], pair[1])
			}
		}
		if r.Present != (want.TTL == 30*time.Minute) || r.Recommended != (want.TTL == 4*time.Minute) {
			t.Errorf("%+v", r)
		}
	}
}

// TestWhatIfEndsWithItsClient, and says so where nothing was seen.
func TestWhatIfEndsWithItsClient(t *testing.T) {
	e := &catalog.Endpoint{Name: "own", Policy: cache.Policy{TTL: time.Hour}}
	advice := known(&e.Policy)
	gone, leave := context.WithCancel(t.Context())
	leave()
	rules := candidates(&e.Policy, nil, advice)
	if _, err := simulate(gone, e, rules, advice, patternOf(rules, advice)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := simulate(t.Context(), e, rules, advice, &whatif.Pattern{Span: time.Hour}); err == nil || statusOf(err) != http.StatusConflict {
		t.Error(err)
	}
	busy := patternOf(rules, advice)
	busy.Time = time.Nanosecond
	if _, err := simulate(t.Context(), e, rules, advice, busy); err == nil || statusOf(err) != http.StatusServiceUnavailable {
		t.Error(err)
	}
}
