package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

// together runs f for n callers at once and waits for all.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

func story(t *testing.T, p policy.Policy, l *script, run func(t *testing.T, s *Space)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { run(t, newCache(t, Config{}).Space("story", p)) })
}

func TestMissThenHit(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		miss := mustFetch(t, s, "k", l)
		if miss.Tier != Upstream || !miss.Stored || miss.Coalesced {
			t.Errorf("first: %+v", miss)
		}
		time.Sleep(7 * time.Second)
		answer := mustFetch(t, s, "k", l)
		if answer.Tier != Near || answer.State != policy.Fresh || answer.Age != 7*time.Second || answer.Left != 53*time.Second {
			t.Errorf("second: %+v", answer)
		}
		wantText(t, answer, "answer 1")
	})
}

func TestColdKeyIsFilledOnceForAll(t *testing.T) {
	l := &script{takes: 500 * time.Millisecond}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		start := time.Now()
		together(100, func(int) { wantText(t, mustFetch(t, s, "k", l), "answer 1") })
		if took := time.Since(start); took > 500*time.Millisecond {
			t.Errorf("the slowest waited %v", took)
		}
		wantCalls(t, l, 1)
	})
}

func TestExpiredKeyIsRefreshedOnceAndNobodyWaits(t *testing.T) {
	l := &script{takes: 500 * time.Millisecond}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(2 * time.Minute)
		start := time.Now()
		together(100, func(int) {
			h := mustFetch(t, s, "k", l)
			wantText(t, h, "answer 1")
			if h.State != policy.Grace || h.Failed != nil {
				t.Errorf("%+v", h)
			}
		})
		if took := time.Since(start); took != 0 {
			t.Errorf("a caller waited %v", took)
		}
		time.Sleep(time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 2")
		wantCalls(t, l, 2)
	})
}

func TestFirstCallerDisconnectsAndWaitersAreServed(t *testing.T) {
	l := &script{takes: 300 * time.Millisecond}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		var leader sync.WaitGroup
		ctx, leave := context.WithCancel(t.Context())
		leader.Go(func() {
			if _, err := s.Get(ctx, "k", Want{}, l); !errors.Is(err, context.Canceled) {
				t.Errorf("the first caller got %v", err)
			}
		})
		synctest.Wait()
		time.AfterFunc(100*time.Millisecond, leave)
		together(199, func(int) { wantText(t, mustFetch(t, s, "k", l), "answer 1") })
		leader.Wait()
		wantCalls(t, l, 1)
	})
}

func TestStaleIfError(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		l.set(func(s *script) { s.err = errDown })
		time.Sleep(30 * time.Minute) // past grace
		for range 20 {
			h := mustFetch(t, s, "k", l)
			wantText(t, h, "answer 1")
			if !errors.Is(h.Failed, errDown) || h.State != policy.Stale {
				t.Errorf("%+v", h)
			}
		}
		wantCalls(t, l, 2) // one try, then a pause
		l.set(func(s *script) { s.err = nil })
		time.Sleep(5 * time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 3")
	})
}

func TestFailureNeverReplacesAnEntry(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		l.set(func(s *script) { s.err = errDown })
		time.Sleep(5 * time.Minute)
		for range 50 { // in grace, refreshes behind fail again and again
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
			time.Sleep(6 * time.Second)
		}
		time.Sleep(2 * time.Hour)
		if _, err := s.Get(t.Context(), "k", Want{}, l); !errors.Is(err, errDown) {
			t.Errorf("past stale-if-error: %v", err)
		}
	})
}

func TestSlowRefreshIsAFailedOneForTheCaller(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		l.set(func(s *script) { s.takes = 8 * time.Second })
		time.Sleep(30 * time.Minute)
		start := time.Now()
		h := mustFetch(t, s, "k", l)
		if took := time.Since(start); took != policy.DefaultSoftTimeout {
			t.Errorf("waited %v, want the soft timeout", took)
		}
		wantText(t, h, "answer 1")
		time.Sleep(9 * time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 2") // the refresh went on behind
		wantCalls(t, l, 2)
	})
}

func TestKeyNeverCachedIsNotHammered(t *testing.T) {
	l := &script{err: errDown}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		var paused *PausedError
		for i := range 20 {
			_, err := s.Get(t.Context(), "k", Want{}, l)
			if !errors.Is(err, errDown) {
				t.Fatal(err)
			}
			if i > 0 && (!errors.As(err, &paused) || paused.Retry <= 0 || paused.Retry > 2*time.Second) {
				t.Errorf("request %d: %v", i, err)
			}
		}
		wantCalls(t, l, 1)
		for range 600 { // ten minutes of a request a second
			time.Sleep(time.Second)
			_, _ = s.Get(t.Context(), "k", Want{}, l)
		}
		if n := l.calls.Load(); n < 15 || n > 40 {
			t.Errorf("%d calls in ten minutes; the pause should have grown to half a minute", n)
		}
		l.set(func(s *script) { s.err = nil })
		time.Sleep(time.Minute)
		mustFetch(t, s, "k", l)
		l.set(func(s *script) { s.err = errDown })
		time.Sleep(3 * time.Hour)
		_, _ = s.Get(t.Context(), "k", Want{}, l)
		if wait, err := s.cache.failures.paused("k", false, time.Now()); err == nil || wait > 1200*time.Millisecond {
			t.Errorf("a success did not reset the pause: %v %v", wait, err)
		}
	})
}

func TestPanicIsAnErrorForAll(t *testing.T) {
	l := &script{takes: time.Millisecond, make: func(int64) (entry.Content, error) { panic("loader") }}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		together(10, func(int) {
			if _, err := s.Get(t.Context(), "k", Want{}, l); err == nil {
				t.Error("no error")
			}
		})
		wantCalls(t, l, 1)
	})
}

func TestNegativeIsKeptBriefly(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) {
		return entry.Content{Source: "first", Negative: "no such thing"}, nil
	}}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		for range 5 {
			if h := mustFetch(t, s, "k", l); !h.Meta.Negative || h.Message != "no such thing" || h.Missing {
				t.Errorf("%+v", h)
			}
		}
		wantCalls(t, l, 1)
		time.Sleep(31 * time.Second)
		mustFetch(t, s, "k", l)
		wantCalls(t, l, 2)
	})
}

func TestNegativeIsNotKeptWithoutALifetime(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) { return entry.Content{Negative: "no"}, nil }}
	p := usual()
	p.Negative = 0
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		mustFetch(t, s, "k", l)
		wantCalls(t, l, 2)
	})
}

func TestEagerRefresh(t *testing.T) {
	l := &script{takes: 100 * time.Millisecond}
	p := usual()
	p.Eager = 0.1
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(50 * time.Second)
		mustFetch(t, s, "k", l)
		time.Sleep(time.Second)
		wantCalls(t, l, 1)
		time.Sleep(5 * time.Second)
		if h := mustFetch(t, s, "k", l); h.State != policy.Eager {
			t.Errorf("state %d", h.State)
		}
		time.Sleep(time.Second)
		wantCalls(t, l, 2)
		if h := mustFetch(t, s, "k", l); h.State != policy.Fresh {
			t.Errorf("state %d after the early refresh", h.State)
		}
	})
}

func TestChangedTTLAppliesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{})
		l := &script{}
		mustFetch(t, c.Space("story", usual()), "k", l)
		time.Sleep(90 * time.Second)
		longer, shorter := usual(), usual()
		longer.TTL, shorter.TTL = time.Hour, 30*time.Second
		if h := mustFetch(t, c.Space("story", longer), "k", l); h.State != policy.Fresh || h.Left != time.Hour-90*time.Second {
			t.Errorf("longer: %+v", h)
		}
		if h := mustFetch(t, c.Space("story", shorter), "k", l); h.State != policy.Grace || h.Left != -time.Minute {
			t.Errorf("shorter: %+v", h)
		}
	})
}

func TestZeroPolicyKeepsNothing(t *testing.T) {
	l := &script{}
	story(t, policy.Policy{FillTimeout: time.Second}, l, func(t *testing.T, s *Space) {
		for range 3 {
			if h := mustFetch(t, s, "k", l); h.State != policy.Absent || h.Stored {
				t.Errorf("%+v", h)
			}
		}
		wantCalls(t, l, 3)
	})
}

func TestMissingForm(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) {
		c := textContent("x")
		c.Forms = append(c.Forms, nil)
		return c, nil
	}}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		for range 2 {
			h, err := s.Get(t.Context(), "k", Want{Form: 1}, l)
			if err != nil || !h.Missing {
				t.Errorf("%+v %v", h, err)
			}
		}
		wantCalls(t, l, 1)
	})
}

func TestWarm(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		for range 3 {
			if _, err := s.Warm(t.Context(), "k", l); err != nil {
				t.Fatal(err)
			}
		}
		if h := mustFetch(t, s, "k", l); h.Tier != Near {
			t.Error("not warm")
		}
		wantCalls(t, l, 1)
	})
}

func TestCloseEndsFills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(Config{Memory: near.MinMemory})
		if err != nil {
			t.Fatal(err)
		}
		p := usual()
		p.FillTimeout = time.Hour
		l := &script{takes: time.Hour}
		s := c.Space("story", p)
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Get(t.Context(), "k", Want{}, l); err == nil {
				t.Error("a fill survived Close")
			}
		})
		synctest.Wait()
		start := time.Now()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("Close took %v", took)
		}
		wg.Wait()
		if _, err := s.Get(t.Context(), "other", Want{}, l); err == nil {
			t.Error("a closed cache fills")
		}
	})
}

func TestNewRefusesATinyCap(t *testing.T) {
	if _, err := New(Config{Memory: 1}); err == nil {
		t.Error("a cap of one byte was accepted")
	}
}

// TestPeekAnswersWhatNeedsNoWaiting, and leaves the rest to Await.
func TestPeekAnswersWhatNeedsNoWaiting(t *testing.T) {
	rows := map[string]struct {
		after time.Duration
		ready bool
		state policy.State
		calls int64 // of the loader, a moment later
	}{
		"fresh":                      {time.Second, true, policy.Fresh, 1},
		"within grace":               {2 * time.Minute, true, policy.Grace, 2},
		"as fallback for an error":   {30 * time.Minute, false, policy.Stale, 1},
		"past every use of it":       {3 * time.Hour, false, policy.Gone, 1},
		"of a key that is not there": {-1, false, policy.Absent, 0},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			l := &script{}
			story(t, usual(), l, func(t *testing.T, s *Space) {
				if row.after >= 0 {
					mustFetch(t, s, "k", l)
					time.Sleep(row.after)
				}
				var answer Answer
				ready := s.GetNear(t.Context(), "k", Want{}, l, &answer)
				if ready != row.ready || answer.State != row.state {
					t.Errorf("ready %v, state %v", ready, answer.State)
				}
				time.Sleep(time.Second)
				wantCalls(t, l, row.calls)
			})
		})
	}
}

// TestFallback: only a usable copy is served, as long as it is one.
func TestFallback(t *testing.T) {
	l, errFull := &script{}, errors.New("overloaded")
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(30 * time.Minute)
		var seen Answer
		s.GetNear(t.Context(), "k", Want{}, l, &seen)
		answer, ok := s.Fallback("k", Want{}, &seen, errFull)
		if !ok || !errors.Is(answer.Failed, errFull) {
			t.Errorf("%v %+v", ok, answer)
		}
		wantText(t, answer, "answer 1")
		if _, ok := s.Fallback("nothing", Want{}, &Answer{}, errFull); ok {
			t.Error("a copy was served for a key that was never filled")
		}
		s.PurgeKey("k", time.Now())
		if _, ok := s.Fallback("k", Want{}, &seen, errFull); ok {
			t.Error("a copy purged meanwhile was served")
		}
	})
}
