package cache

import (
	"context"
	"errors"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// staleInBoth gives Redis a newer copy than two has, which two has not looked up. Both are stale.
func staleInBoth(t *testing.T, far *fakeRemote, one, two *Space) {
	t.Helper()
	newerElsewhere(t, one, two, &script{})
	time.Sleep(30 * time.Minute)
}

// TestNewerStaleCopyIsTheFallback: while a client waits, the fill finds in Redis a newer copy than the client's. That copy is
// stale too, so the fill goes on. The client gets it if the fill is slow or fails.
func TestNewerStaleCopyIsTheFallback(t *testing.T) {
	for name, row := range map[string]struct {
		loader *script
		failed error
	}{
		"slow fill":   {&script{takes: 8 * time.Second}, errSlow},
		"failed fill": {&script{err: errDown}, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
				staleInBoth(t, far, one, two)
				for range 2 {
					h := mustFetch(t, two, "story:k", row.loader)
					if wantText(t, h, "answer 2"); h.State != policy.Stale || !errors.Is(h.Failed, row.failed) {
						t.Errorf("%+v", h)
					}
				}
				wantCalls(t, row.loader, 1)
			})
		})
	}
}

// TestFallbackIsTheBestCopyInMemory: whatever has become of the copy that a client found, the client gets the best one there is
// when it cannot have a new one.
func TestFallbackIsTheBestCopyInMemory(t *testing.T) {
	replace := func(c func() entry.Content, age time.Duration) func(*testing.T, *Space) {
		return func(t *testing.T, s *Space) {
			s.cache.near.Put(policy.Shared, "k", made(t, s, "k", c(), time.Now().Add(-age)))
		}
	}
	newer := func() entry.Content { return textContent("newer") }
	for name, row := range map[string]struct {
		meanwhile func(*testing.T, *Space)
		text      string
		state     policy.State
	}{
		"a newer one, stale too":         {replace(newer, 29*time.Minute), "newer", policy.Stale},
		"a newer one, in grace":          {replace(newer, 5*time.Minute), "newer", policy.Grace},
		"a newer one, fresh":             {replace(newer, 0), "newer", policy.Fresh},
		"an older one":                   {replace(newer, 31*time.Minute), "answer 1", policy.Stale},
		"a negative one":                 {replace(negativeContent, 0), "answer 1", policy.Stale},
		"evicted":                        {func(_ *testing.T, s *Space) { s.cache.near.Remove(policy.Shared, "k") }, "answer 1", policy.Stale},
		"purged, and a newer one, stale": {func(t *testing.T, s *Space) { purgeOlder(t, s, newer()) }, "newer", policy.Stale},
	} {
		for how, get := range map[string]func(s *Space, seen *Answer) (Answer, error){
			"shed": func(s *Space, seen *Answer) (Answer, error) {
				answer, ok := s.Fallback("k", Want{}, seen, errDown)
				if !ok {
					return answer, errDown
				}
				return answer, nil
			},
			"paused": func(s *Space, seen *Answer) (Answer, error) {
				s.cache.failures.add("k", errDown, true, &s.policy, time.Now())
				return s.Await(context.Background(), "k", Want{}, &script{}, seen)
			},
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				story(t, usual(), nil, func(t *testing.T, s *Space) {
					mustFetch(t, s, "k", &script{})
					time.Sleep(30 * time.Minute)
					var seen Answer
					s.GetNear(t.Context(), "k", Want{}, nil, &seen)
					row.meanwhile(t, s)
					h, err := get(s, &seen)
					if err != nil {
						t.Fatal(err)
					}
					wantText(t, h, row.text)
					if h.State != row.state || (h.Failed != nil) != (row.state == policy.Stale) {
						t.Errorf("%+v", h)
					}
				})
			})
		}
	}
}

// purgeOlder purges the copy, and stores one that was created later, and is stale as well.
func purgeOlder(t *testing.T, s *Space, c entry.Content) {
	t.Helper()
	s.PurgeKey("k", time.Now().Add(-29*time.Minute))
	s.cache.near.Put(policy.Shared, "k", made(t, s, "k", c, time.Now().Add(-28*time.Minute)))
}

// TestPurgedCopyIsNoFallbackDuringAPause: a client whose copy was purged after it was found waits like one without a copy.
func TestPurgedCopyIsNoFallbackDuringAPause(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(30 * time.Minute)
		var seen Answer
		s.GetNear(t.Context(), "k", Want{}, l, &seen)
		s.cache.failures.add("k", errDown, true, &s.policy, time.Now())
		s.PurgeKey("k", time.Now())
		h, err := s.Await(t.Context(), "k", Want{}, l, &seen)
		if err != nil {
			t.Fatal(err)
		}
		wantText(t, h, "answer 2")
	})
}
