package whatif_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
)

// loads of popular and of rare keys.
func loads() []whatif.Load {
	return []whatif.Load{{Keys: 2, Rate: 0.5}, {Keys: 10, Rate: 0.02}, {Keys: 300, Rate: 0.0005}}
}

// TestAPatternIsAsALogOfIt: what is made up of loads leads to what a log of such requests
// leads to, request by request, for each rule.
func TestAPatternIsAsALogOfIt(t *testing.T) {
	rules := []cache.Policy{rule(5*time.Minute, 0), rule(30*time.Minute, 10*time.Minute), rule(3*time.Hour, time.Hour)}
	cfg := whatif.Config{Rules: rules, Changes: whatif.Random(30 * time.Minute), Latency: 200 * time.Millisecond, From: midnight}
	const span = 10 * 24 * time.Hour
	p := whatif.Pattern{Loads: loads(), Span: span}
	sim, err := p.Replay(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	random, key := rand.New(rand.NewPCG(7, 7)), uint64(0)
	var trace []asked
	for _, l := range loads() {
		for range int(l.Keys) {
			key++
			for at := 0.0; ; {
				if at += random.ExpFloat64() / l.Rate; at >= span.Seconds() {
					break
				}
				trace = append(trace, asked{time.Duration(at * 1e9), key})
			}
		}
	}
	slices.SortFunc(trace, func(a, b asked) int { return int(a.at - b.at) })
	cfg.From = midnight.Add(span / 5)
	for i, want := range simulated(t, trace, cfg) {
		got := sim.Outcomes()[i]
		t.Logf("%v: %.1f calls an hour (log %.1f), hits %.4f (%.4f), old %.4f (%.4f), age %v (%v), p99 %v (%v)", want.Rule.TTL, got.CallsPerHour, want.CallsPerHour,
			got.HitRatio(), want.HitRatio(), got.Older, want.Older, got.MeanAge, want.MeanAge, got.P99Age, want.P99Age)
		near(t, "requests", float64(got.Requests), float64(want.Requests))
		near(t, "calls", got.CallsPerHour, want.CallsPerHour)
		near(t, "hit ratio", got.HitRatio(), want.HitRatio())
		near(t, "older", got.Older, want.Older)
		near(t, "mean age", got.MeanAge.Seconds(), want.MeanAge.Seconds())
		near(t, "p99 age", got.P99Age.Seconds(), want.P99Age.Seconds())
	}
	if sim.Keys() != 312 || sim.Requests() < uint64(len(trace))*7/10 {
		t.Errorf("%d keys, %d requests of %d", sim.Keys(), sim.Requests(), len(trace))
	}
}

// TestAReplayEnds: after so many requests, with its context, and where there is nothing.
func TestAReplayEnds(t *testing.T) {
	cfg := whatif.Config{Rules: []cache.Policy{rule(time.Second, 0)}, From: midnight}
	p := whatif.Pattern{Loads: loads(), Span: 365 * 24 * time.Hour, Events: 10_000}
	sim, err := p.Replay(t.Context(), cfg)
	if err != nil || sim.Requests() < 7000 || sim.Requests() > 9000 || sim.Span() > 12*time.Hour {
		t.Errorf("%v, %d requests in %v", err, sim.Requests(), sim.Span())
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := p.Replay(gone, cfg); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	p.Time = time.Nanosecond
	if sim, err := p.Replay(t.Context(), cfg); err != nil || sim.Requests() > 2000 {
		t.Errorf("%v, %d requests", err, sim.Requests())
	}
	if _, err := (&whatif.Pattern{Loads: []whatif.Load{{Keys: 3}}, Span: time.Hour}).Replay(t.Context(), cfg); !errors.Is(err, whatif.ErrNoLoads) {
		t.Error(err)
	}
	cfg.Memory = whatif.NewMemory(1)
	p.Time = 0
	if _, err := p.Replay(t.Context(), cfg); !errors.Is(err, whatif.ErrMemory) {
		t.Error(err)
	}
}

// TestOftenRequestedKeysStandForMany: a million requests a second are some dozens, and no
// hit is lost.
func TestOftenRequestedKeysStandForMany(t *testing.T) {
	cfg := whatif.Config{Rules: []cache.Policy{exact(time.Minute, time.Minute, 0)}, From: midnight}
	p := whatif.Pattern{Loads: []whatif.Load{{Keys: 1, Rate: 1e6}}, Span: 24 * time.Hour}
	sim, err := p.Replay(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.Outcomes()[0]
	if share := float64(o.Requests) / (0.8 * 86400 * 1e6); math.Abs(share-1) > 0.05 || o.CallsPerHour < 55 || o.CallsPerHour > 60 || o.HitRatio() < 0.999 {
		t.Errorf("%+v", o)
	}
}
