package advise

import (
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache/policy"
	"sundry/upstreams/lib/longtest"
)

var epoch = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

func rule(ttl time.Duration) *policy.Policy {
	return &policy.Policy{TTL: ttl, Jitter: policy.DefaultJitter, Eager: policy.DefaultEager}
}

// TestSeenIsBounded: the oldest events go, and requests that are close together are one.
func TestSeenIsBounded(t *testing.T) {
	s := &Seen{Most: 100}
	for i := range 1000 {
		s.Request(uint32(i%3), epoch.Add(time.Duration(i)*time.Second), 1, time.Minute)
	}
	if n := len(s.events); n > 100 || n < 75 {
		t.Errorf("%d events", n)
	}
	if last := s.events[len(s.events)-1]; last.time() != epoch.Add(999*time.Second).UnixMilli() {
		t.Errorf("the last event is of %d", last.time())
	}
	s = &Seen{}
	for i := range 1000 {
		s.Request(uint32(i%2), epoch.Add(time.Duration(i)*time.Millisecond), 1, time.Minute)
	}
	if e := s.Past().evidence; len(s.events) != 4 || e.Requests != 1000 {
		t.Errorf("%d events of %d requests", len(s.events), e.Requests)
	}
}

// TestLittleIsSaidOfLittle: nothing seen, a request alone, refreshes without a request.
func TestLittleIsSaidOfLittle(t *testing.T) {
	for _, seen := range []func(s *Seen){
		func(*Seen) {},
		func(s *Seen) { s.Request(1, epoch, 1, time.Minute) },
		func(s *Seen) {
			s.Refresh(1, epoch, 0, First)
			s.Refresh(1, epoch.Add(-time.Hour), time.Minute, Changed)
		},
	} {
		s := &Seen{}
		seen(s)
		if a := s.Past().Advise(rule(time.Minute), Ladder(time.Minute), Target{Old: 0.02}); a.TTL != 0 || a.Reason.EN() == "" || a.Reason.ZH() == "" {
			t.Errorf("%+v", a)
		}
	}
}

// TestSampledHitsCount: the calls of a key of which one request in ten was logged are those
// of all of them.
func TestSampledHitsCount(t *testing.T) {
	s := &Seen{}
	for i := range 1000 {
		at := epoch.Add(time.Duration(i) * 100 * time.Second)
		s.Request(1, at, 10, time.Minute)
		s.Refresh(1, at, 100*time.Second, Unchanged)
	}
	if r := s.Past().Rule(rule(5 * time.Second)); r.Calls < 235 || r.Calls > 270 {
		t.Errorf("%.1f calls an hour, of requests at random every 10 s", r.Calls)
	}
}

// TestManyKeysAreSampled: where all keys leave room for too short a time, some are kept
// with all that is seen of them, and calls are those of all.
func TestManyKeysAreSampled(t *testing.T) {
	s := &Seen{Most: 4000}
	const keys, rounds = 1000, 40
	for i := range keys * rounds { // each key once an hour
		s.Request(uint32(i%keys)*2654435761, epoch.Add(time.Duration(i)*3600*time.Millisecond), 1, time.Minute)
	}
	past := s.Past()
	if span := time.Duration(past.to-past.from) * time.Millisecond; span < 20*time.Hour {
		t.Errorf("the events are of %v", span)
	}
	if r := past.Rule(rule(time.Minute)); r.Calls < 0.8*keys || r.Calls > 1.2*keys {
		t.Errorf("%.0f calls an hour, of a request an hour for each of %d keys", r.Calls, keys)
	}
}

// TestSamplesAreTogether: of many requests, those of a 64th of the TTL are one event.
func TestSamplesAreTogether(t *testing.T) {
	s := &Seen{}
	for i := range 10_000 {
		s.Request(1, epoch.Add(time.Duration(i)*time.Second), 16, time.Hour)
	}
	if n := len(s.events); n > 400 {
		t.Errorf("%d events of three hours", n)
	}
	if e := s.Past().evidence; e.Requests != 160_000 {
		t.Errorf("%d requests", e.Requests)
	}
}

// TestEventsInAnyOrder: what is told of later and was before is no part of what was then.
func TestEventsInAnyOrder(t *testing.T) {
	for _, weight := range []int{1, 16} {
		s := &Seen{}
		for i := range 1000 {
			at := epoch.Add(time.Duration((i+500)%1000) * time.Minute)
			s.Request(1, at, weight, time.Hour)
		}
		if past := s.Past(); time.Duration(past.to-past.from)*time.Millisecond < 900*time.Minute {
			t.Errorf("%v", past.evidence)
		}
	}
}

// TestAnythingMayBeSeen: whatever is noted, in whatever order, shares are from 0 to 1 and
// bands hold what is said.
func TestAnythingMayBeSeen(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	for seed := range uint64(200) {
		r, s := rand.New(rand.NewPCG(seed, 3)), &Seen{}
		for range 1 + r.IntN(200) {
			at := epoch.Add(time.Duration(r.Int64N(int64(10 * 24 * time.Hour))))
			if r.IntN(3) == 0 {
				s.Request(r.Uint32N(3), at, 1+r.IntN(3)*r.IntN(100), time.Minute)
				continue
			}
			age := time.Duration(r.Int64N(int64(time.Hour))) * time.Duration(r.IntN(3)-r.IntN(2))
			s.Refresh(r.Uint32N(3), at, age, First+Outcome(r.IntN(3)))
		}
		past := s.Past()
		a := past.Advise(rule(time.Minute), Ladder(time.Minute), Target{Old: 0.02})
		for _, rule := range a.Rules {
			if !(rule.OlderLow >= 0 && rule.OlderLow <= rule.Older && rule.Older <= rule.OlderHigh && rule.OlderHigh <= 1) || !(rule.CallsLow <= rule.Calls && rule.Calls <= rule.CallsHigh) {
				t.Fatalf("seed %d: %+v", seed, rule)
			}
		}
		Step(past, rule(time.Minute), Target{Old: 0.02}, epoch, epoch.Add(10*24*time.Hour))
	}
}
