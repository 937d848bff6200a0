package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

func negativeContent() entry.Content {
	return entry.Content{Source: "second", Negative: "no such thing"}
}

func lastResortContent() entry.Content {
	c := textContent("of a last resort")
	c.LastResort = true
	return c
}

// In every state in which a copy is usable, neither a negative answer nor a last
// resort replaces it, in either tier.
func TestReplaceableReplacesNoUsableCopy(t *testing.T) {
	for name, replaceable := range map[string]func() entry.Content{"a negative answer": negativeContent, "a last resort": lastResortContent} {
		for age, where := range map[time.Duration]string{2 * time.Minute: "in grace", 30 * time.Minute: "stale"} {
			t.Run(name+", "+where, func(t *testing.T) {
				fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
					l := &script{}
					mustFetch(t, one, "k", l)
					synctest.Wait()
					before := string(far.values["k"])
					time.Sleep(age)
					l.set(func(l *script) { l.make = func(int64) (entry.Content, error) { return replaceable(), nil } })
					for range 5 {
						for _, s := range []*Space{one, two} {
							wantText(t, mustFetch(t, s, "k", l), "answer 1")
							synctest.Wait()
						}
					}
					wantCalls(t, l, 3) // one by each instance, then a pause
					h := mustFetch(t, two, "k", l)
					if age > 10*time.Minute && !errors.Is(h.Failed, errNegative) && !errors.Is(h.Failed, errLastResort) {
						t.Errorf("%+v", h)
					}
					if string(far.values["k"]) != before || len(far.failures) != 0 {
						t.Error("Redis was changed")
					}
				})
			})
		}
	}
}

func TestLoaderGetsHasCopy(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		var got []bool
		give := textContent("good")
		l := loaderFunc(func(_ context.Context, hasCopy bool) (entry.Content, error) {
			got = append(got, hasCopy)
			return give, nil
		})
		expect := func(what string, s *Space, want bool) {
			t.Helper()
			got = nil
			mustFetch(t, s, "k", l)
			synctest.Wait()
			if len(got) != 1 || got[0] != want {
				t.Errorf("%s: hasCopy %v", what, got)
			}
		}
		give = lastResortContent()
		expect("nothing at hand", one, false)
		time.Sleep(30 * time.Minute)
		expect("a last resort is no cover", one, false)
		give = textContent("good")
		time.Sleep(30 * time.Minute)
		expect("nor the newer one", one, false)
		time.Sleep(30 * time.Minute)
		expect("out of Redis", two, true)
		time.Sleep(30 * time.Minute)
		expect("out of memory", two, true)
		hardPurge(two)
		expect("purged", two, false)
	})
}

func TestLastResortIsFreshBriefly(t *testing.T) {
	p := usual()
	p.TTL, p.Limits = time.Hour, map[string]time.Duration{"quick": 10 * time.Second}
	calendar, err := policy.ParseCalendar("06:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	daily := policy.Policy{Until: calendar, Poll: time.Hour, StaleIfError: time.Hour}
	created := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for name, r := range map[string]struct {
		policy policy.Policy
		source string
		want   time.Duration
	}{
		"by default":           {p, "first", policy.LastResort},
		"as its source limits": {p, "quick", 10 * time.Second},
		"with a timetable":     {daily, "first", policy.LastResort},
	} {
		m := entry.Meta{Created: created, Modified: created, Source: r.source, LastResort: true}
		if state, left := r.policy.State(&m, created); state != policy.Fresh || left != r.want {
			t.Errorf("%s: %v for %v, want %v", name, state, left, r.want)
		}
		if state, _ := r.policy.State(&m, created.Add(r.want)); state != policy.Grace && state != policy.Stale {
			t.Errorf("%s: %v after that", name, state)
		}
	}
}

func TestLastResortIsServedUntilThereIsBetter(t *testing.T) {
	l := &script{make: func(int64) (entry.Content, error) { return lastResortContent(), nil }}
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		if h := mustFetch(t, one, "k", l); !h.Stored || !h.Meta.LastResort {
			t.Errorf("%+v", h)
		}
		time.Sleep(30 * time.Minute)
		l.set(func(l *script) { l.make, l.err = nil, errDown })
		wantText(t, mustFetch(t, one, "k", l), "of a last resort")
		time.Sleep(time.Minute)
		l.set(func(l *script) { l.err = nil })
		wantText(t, mustFetch(t, one, "k", l), "answer 3")
		synctest.Wait()
		wantText(t, mustFetch(t, two, "k", l), "answer 3")
		wantCalls(t, l, 3)
	})
}

// One instance cached a negative answer while Redis was down; Redis has a copy of
// another instance's.
func TestNegativeInRedisHidesNoCopy(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		time.Sleep(30 * time.Minute)
		delete(far.values, "k")
		l.set(func(l *script) { l.make = func(int64) (entry.Content, error) { return negativeContent(), nil } })
		if h := mustFetch(t, two, "k", l); !h.Meta.Negative {
			t.Errorf("%+v", h)
		}
		synctest.Wait()
		wantText(t, mustFetch(t, one, "k", l), "answer 1")
	})
}

func TestGoneIsDeletedFromRedisAndReplacedByANegative(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		time.Sleep(3 * time.Hour)
		l.set(func(l *script) { l.make = func(int64) (entry.Content, error) { return negativeContent(), nil } })
		mustFetch(t, one, "k", l)
		synctest.Wait()
		if h := mustFetch(t, two, "k", l); !h.Meta.Negative || h.Tier != Far {
			t.Errorf("%+v", h)
		}
	})
}

func TestHitTellsRefreshed(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{}
		if mustFetch(t, one, "k", l).Refreshed {
			t.Error("a miss")
		}
		synctest.Wait()
		time.Sleep(30 * time.Minute)
		if h := mustFetch(t, two, "k", l); !h.Refreshed || h.Failed != nil || h.Tier != Upstream {
			t.Errorf("stale in Redis: %+v", h)
		}
		synctest.Wait()
		if h := mustFetch(t, one, "k", l); h.Refreshed || h.Tier != Far {
			t.Errorf("Redis had a fresh one: %+v", h)
		}
		time.Sleep(30 * time.Minute)
		if h := mustFetch(t, one, "k", l); !h.Refreshed {
			t.Errorf("stale in memory: %+v", h)
		}
		if mustFetch(t, one, "k", l).Refreshed {
			t.Error("a hit")
		}
	})
}

// stubborn loaders return something although their context has ended.
func stubborn(what func() (entry.Content, error), takes time.Duration) Loader {
	return loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
		select {
		case <-ctx.Done():
		case <-time.After(takes):
		}
		return what()
	})
}

func TestCancelledFillStoresNothing(t *testing.T) {
	for name, l := range map[string]Loader{
		"an answer": stubborn(func() (entry.Content, error) { return textContent("x"), nil }, time.Hour),
		"a no":      stubborn(func() (entry.Content, error) { return negativeContent(), nil }, time.Hour),
		"an error":  stubborn(func() (entry.Content, error) { return entry.Content{}, errDown }, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := newFakeRemote()
				c := newCache(t, Config{Far: far})
				s := c.Space("story", usual())
				var wg sync.WaitGroup
				wg.Go(func() {
					if h, err := s.Get(t.Context(), "k", Want{}, l); !errors.Is(err, context.Canceled) {
						t.Errorf("%+v, %v", h, err)
					}
				})
				time.Sleep(time.Second)
				c.flights.stop()
				wg.Wait()
				synctest.Wait()
				_, _, found := s.Look("k")
				if _, err := c.failures.paused("k", false, time.Now()); found || err != nil || len(far.values)+len(far.failures)+len(far.leased) != 0 {
					t.Errorf("left behind: found %v, paused %v, %d values, %d failures, %d leases", found, err, len(far.values), len(far.failures), len(far.leased))
				}
			})
		})
	}
}

func TestLateFillStoresNothingAndPauses(t *testing.T) {
	for name, what := range map[string]func() (entry.Content, error){
		"an answer": func() (entry.Content, error) { return textContent("x"), nil },
		"a no":      func() (entry.Content, error) { return negativeContent(), nil },
		"an error":  func() (entry.Content, error) { return entry.Content{}, errDown },
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
				l := stubborn(what, time.Hour)
				_, err := one.Get(t.Context(), "k", Want{}, l)
				if !errors.Is(err, context.DeadlineExceeded) || name == "an error" && !errors.Is(err, errDown) {
					t.Error(err)
				}
				synctest.Wait()
				var paused *PausedError
				if _, err := one.Get(t.Context(), "k", Want{}, l); !errors.As(err, &paused) {
					t.Errorf("not paused: %v", err)
				}
				if _, _, found := one.Look("k"); found || len(far.values) != 0 {
					t.Error("a late fill was kept")
				}
			})
		})
	}
}

// As a chain does whose sources are all skipped when the time is up.
func TestCloseWhileAnotherHoldsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		far.leased["k"] = true
		c := newCache(t, Config{Far: far})
		s := c.Space("story", usual())
		asked := false
		l := loaderFunc(func(context.Context, bool) (entry.Content, error) { asked = true; return negativeContent(), nil })
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Get(t.Context(), "k", Want{}, l); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		time.Sleep(200 * time.Millisecond)
		c.flights.stop()
		wg.Wait()
		synctest.Wait()
		if asked || len(far.values)+len(far.failures) != 0 {
			t.Errorf("asked %v; Redis: %v %v", asked, far.values, far.failures)
		}
	})
}

// A fill whose loader panics releases the lease, the key and its slot; Close, which
// newCache calls, waits for it.
func TestPanicReleasesLeaseAndSlot(t *testing.T) {
	p := usual()
	p.PauseMax = 0
	fleet(t, p, func(t *testing.T, far *fakeRemote, one, _ *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		l.set(func(l *script) { l.make = func(int64) (entry.Content, error) { panic("loader") } })
		for range 3 {
			time.Sleep(2 * time.Minute)
			wantText(t, mustFetch(t, one, "k", l), "answer 1")
			synctest.Wait()
			if len(far.leased) != 0 || len(one.cache.flights.byKey) != 0 {
				t.Errorf("held: %v, under way: %v", far.leased, one.cache.flights.byKey)
			}
		}
		wantCalls(t, l, 4)
	})
}

type brokenRemote struct{ *fakeRemote }

func (brokenRemote) Look(context.Context, string, time.Duration) entry.Found { panic("far") }

func TestPanicOutsideTheLoaderIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCache(t, Config{Far: brokenRemote{newFakeRemote()}}).Space("story", usual())
		if _, err := s.Get(t.Context(), "k", Want{}, &script{}); err == nil {
			t.Error("no error")
		}
	})
}
