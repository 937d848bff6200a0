package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// fetchAndLeave asks, and disconnects after a while.
func fetchAndLeave(t *testing.T, s *Space, key string, l Loader, after time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	if h, err := s.Get(ctx, key, Want{}, l); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the caller that left got %+v, %v", h, err)
	}
}

// watched is a loader that records when it was cancelled.
type watched struct {
	script
	mu        sync.Mutex
	cancelled []time.Time
}

func (w *watched) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	c, err := w.script.Load(ctx, hasCopy)
	if ctx.Err() != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.cancelled = append(w.cancelled, time.Now())
	}
	return c, err
}

func TestLastWaiterCancelsTheFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		c := newCache(t, Config{Far: far})
		s := c.Space("story", usual())
		l := &watched{script: script{takes: 8 * time.Second}}
		start := time.Now()
		together(10, func(i int) { fetchAndLeave(t, s, "k", l, time.Duration(i+1)*100*time.Millisecond) })
		synctest.Wait()
		if len(l.cancelled) != 1 || l.cancelled[0].Sub(start) != time.Second {
			t.Errorf("cancelled %v after %v", l.cancelled, start)
		}
		if n := len(far.values) + len(far.failures) + len(far.leased); n != 0 {
			t.Errorf("in Redis: %v %v %v", far.values, far.failures, far.leased)
		}
		wantText(t, mustFetch(t, s, "k", l), "answer 2")
		if len(c.flights.byKey) != 0 {
			t.Errorf("still under way: %v", c.flights.byKey)
		}
	})
}

// A caller without a deadline loads in its own goroutine. When it leaves, that is
// cancelled as well.
func TestOnlyCallerDisconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{})
		s := c.Space("story", usual())
		l := &watched{script: script{takes: 8 * time.Second}}
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		if _, err := s.Get(ctx, "k", Want{}, l); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if len(l.cancelled) != 1 || l.cancelled[0].Sub(start) != time.Second || time.Since(start) != time.Second {
			t.Errorf("cancelled %v after %v", l.cancelled, start)
		}
		if len(c.flights.byKey) != 0 || c.flights.running() != 0 {
			t.Errorf("still under way: %v", c.flights.byKey)
		}
		wantText(t, mustFetch(t, s, "k", l), "answer 2")
	})
}

func TestJoiningACancelledFlightStartsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCache(t, Config{}).Space("story", usual())
		ended := make(chan struct{})
		slow := loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
			<-ctx.Done()
			<-ended // it takes its time to notice
			return entry.Content{}, ctx.Err()
		})
		fetchAndLeave(t, s, "k", slow, time.Second)
		l := &script{takes: time.Second}
		var late sync.WaitGroup
		late.Go(func() { wantText(t, mustFetch(t, s, "k", l), "answer 1") })
		synctest.Wait()
		close(ended)
		late.Wait()
		if h := mustFetch(t, s, "k", l); h.Tier != Near {
			t.Error("the second flight was not kept")
		}
		wantCalls(t, l, 1)
	})
}

// No caller joins a flight that has been cancelled.
func TestLateJoinersAreNeverCancelled(t *testing.T) {
	s := newCache(t, Config{}).Space("story", policy.Policy{TTL: time.Hour, FillTimeout: time.Minute})
	l := loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
		select {
		case <-ctx.Done():
			return entry.Content{}, ctx.Err()
		case <-time.After(200 * time.Microsecond):
			return negativeContent(), nil // which this policy does not keep
		}
	})
	together(8, func(i int) {
		for n := range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration((n+i)%8)*50*time.Microsecond)
			_, err := s.Get(ctx, "k", Want{}, l)
			if ctx.Err() == nil && err != nil {
				t.Errorf("the caller that stayed got %v", err)
			}
			cancel()
			if _, err := s.Get(t.Context(), "k", Want{}, l); err != nil {
				t.Errorf("the caller that stayed got %v", err)
			}
		}
	})
}

func TestRefreshGoesOnWithoutWaiters(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, s *Space, l Loader){
		"behind a copy in grace": func(t *testing.T, s *Space, l Loader) {
			time.Sleep(2 * time.Minute)
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
		},
		"after the soft timeout": func(t *testing.T, s *Space, l Loader) {
			time.Sleep(30 * time.Minute)
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
			fetchAndLeave(t, s, "k", l, 100*time.Millisecond)
		},
		"warm-up": func(t *testing.T, s *Space, l Loader) {
			time.Sleep(3 * time.Hour)
			go func() {
				if _, err := s.Warm(t.Context(), "k", l); err != nil {
					t.Error(err)
				}
			}()
			synctest.Wait()
			fetchAndLeave(t, s, "k", l, 100*time.Millisecond)
		},
		"wanted while callers wait": func(t *testing.T, s *Space, l Loader) {
			time.Sleep(3 * time.Hour)
			go fetchAndLeave(t, s, "k", l, time.Second)
			synctest.Wait()
			s.refresh(t.Context(), "k", l, &Answer{}, time.Now())
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &watched{}
			story(t, usual(), &l.script, func(t *testing.T, s *Space) {
				mustFetch(t, s, "k", l)
				l.set(func(l *script) { l.takes = 5 * time.Second })
				begin(t, s, l)
				time.Sleep(6 * time.Second)
				wantText(t, mustFetch(t, s, "k", l), "answer 2")
				wantCalls(t, &l.script, 2)
				if len(l.cancelled) != 0 {
					t.Errorf("cancelled: %v", l.cancelled)
				}
			})
		})
	}
}

func TestDisconnectBeforeTheSoftTimeoutCancelsTheFill(t *testing.T) {
	l := &watched{}
	story(t, usual(), &l.script, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		l.set(func(l *script) { l.takes = 5 * time.Second })
		time.Sleep(30 * time.Minute)
		fetchAndLeave(t, s, "k", l, 100*time.Millisecond)
		synctest.Wait()
		if len(l.cancelled) != 1 {
			t.Error("goes on")
		}
		if _, err := s.cache.failures.paused("k", true, time.Now()); err != nil {
			t.Errorf("a failure record: %v", err)
		}
	})
}

// TestPartEvictedBeforeItIsPicked: a flight may find an entry complete in the near
// tier, and a part of it be evicted before a caller picks its form.
func TestPartEvictedBeforeItIsPicked(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		large := strings.Repeat("x", 8<<10)
		l.set(func(l *script) { l.text = large })
		mustFetch(t, s, "k", l)
		leavesHot(t, s, "k")
		head, ok := s.cache.near.Stored(s.policy.Class, "k")
		if !ok || !head.Split() {
			t.Fatal("the entry is not in parts")
		}
		losesParts(t, s, "k")
		answer, err := s.answerFrom(t.Context(), "k", Want{}, l, &flightResult{entry: &head, tier: Near})
		if err != nil || string(answer.Rep.Data) != large || answer.Tier != Upstream {
			t.Errorf("%v, %d bytes of %v", err, len(answer.Rep.Data), answer.Tier)
		}
	})
}

// crowd starts fills of the keys, waits until they run, and returns what
// waits for their end.
func crowd(t *testing.T, s *Space, l Loader, from, to int) *sync.WaitGroup {
	t.Helper()
	var all sync.WaitGroup
	for i := from; i < to; i++ {
		all.Go(func() { mustFetch(t, s, fmt.Sprint(s.name, ":", i), l) })
	}
	synctest.Wait()
	return &all
}

func TestFillsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 8})
		one, two, three := c.Space("one", usual()), c.Space("two", usual()), c.Space("three", usual())
		l := &script{takes: 5 * time.Second}
		refused := func(s *Space, key string) {
			t.Helper()
			start := time.Now()
			_, err := s.Get(t.Context(), key, Want{}, l)
			if !errors.Is(err, ErrBusy) || time.Since(start) != 0 {
				t.Errorf("%s: %v after %v", s.name, err, time.Since(start))
			}
			if _, err := c.failures.paused(key, false, time.Now()); err != nil {
				t.Errorf("%s: a failure record: %v", key, err)
			}
		}
		first := crowd(t, one, l, 0, 4)
		refused(one, "one:4")
		refused(c.Space("one/pictures", usual()), "one/pictures:1")
		second := crowd(t, two, l, 0, 4)
		refused(three, "three:0")
		joined := crowd(t, one, l, 0, 2) // who joins is no further fill
		for _, crowd := range []*sync.WaitGroup{first, second, joined} {
			crowd.Wait()
		}
		wantCalls(t, l, 8)
		mustFetch(t, three, "three:0", l)
		if n := c.flights.running(); n != 0 || len(c.flights.byEndpoint) != 0 {
			t.Errorf("%d fills are still counted: %v", n, c.flights.byEndpoint)
		}
	})
}

func TestStaleCopyIsServedWhenNoFillMayStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		s, busy := c.Space("story", usual()), c.Space("busy", usual())
		l := &script{}
		mustFetch(t, s, "k", l)
		for _, after := range []time.Duration{2 * time.Minute, 30 * time.Minute} {
			time.Sleep(after)
			other := crowd(t, busy, &script{takes: time.Second}, int(after), int(after)+1)
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
			other.Wait()
		}
		wantCalls(t, l, 1)
	})
}

// A fill started by another fill is not counted again, or fills would wait for
// each other's slots.
func TestFillsInsideFillsAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		none := usual()
		none.TTL = 0
		for _, outer := range []*Space{c.Space("story", usual()), c.Space("story", none)} {
			inner := c.Space("story/step", usual())
			l := loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
				_, err := inner.Get(ctx, "step", Want{}, &script{})
				return textContent("x"), err
			})
			mustFetch(t, outer, "k", l)
		}
	})
}

func TestWhatIsNotKeptIsCountedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		c := newCache(t, Config{Fills: 4, Registerer: reg})
		s := c.Space("card", policy.Policy{FillTimeout: time.Minute})
		l := &script{takes: time.Second}
		two := crowd(t, s, l, 0, 2)
		if _, err := s.Get(t.Context(), "k", Want{}, l); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		const want = "# HELP sundry_cache_fills_limit Limit of concurrent fills; one endpoint may use half of it.\n" +
			"# TYPE sundry_cache_fills_limit gauge\nsundry_cache_fills_limit 4\n" +
			"# HELP sundry_cache_fills_running Fills that are running.\n# TYPE sundry_cache_fills_running gauge\nsundry_cache_fills_running 2\n"
		if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "sundry_cache_fills_limit", "sundry_cache_fills_running"); err != nil {
			t.Error(err)
		}
		two.Wait()
	})
}

// A cancelled fill keeps its slot until it has ended.
func TestCancelledFillsAreCountedUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		s := c.Space("story", usual())
		end := make(chan struct{})
		fetchAndLeave(t, s, "k", loaderFunc(func(context.Context, bool) (entry.Content, error) { <-end; return negativeContent(), nil }), time.Second)
		if _, err := s.Get(t.Context(), "k", Want{}, &script{}); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		close(end)
		synctest.Wait()
		mustFetch(t, s, "k", &script{})
	})
}

// A loader that ends its goroutine, as a failing test's does, ends its flight.
func TestLoaderThatNeverReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{})
		s := c.Space("story", usual())
		l := loaderFunc(func(context.Context, bool) (entry.Content, error) {
			runtime.Goexit()
			return entry.Content{}, nil
		})
		patient, cancel := context.WithTimeout(t.Context(), time.Hour) // so that a goroutine of its own loads
		defer cancel()
		if _, err := s.Get(patient, "k", Want{}, l); !errors.Is(err, errNoResult) {
			t.Error(err)
		}
		if len(c.flights.byKey) != 0 || c.flights.running() != 0 {
			t.Errorf("under way: %v", c.flights.byKey)
		}
	})
}

// A fill has the values of the caller that began it, and none of its ends.
func TestFillHasItsCallersValues(t *testing.T) {
	type name struct{}
	synctest.Test(t, func(t *testing.T) {
		s := newCache(t, Config{}).Space("story", usual())
		caller, cancel := context.WithTimeout(context.WithValue(t.Context(), name{}, "caller"), time.Second)
		defer cancel()
		var fill context.Context
		l := loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
			fill = ctx
			return textContent("a"), nil
		})
		if _, err := s.Get(caller, "k", Want{}, l); err != nil {
			t.Fatal(err)
		}
		end, ok := fill.Deadline()
		if fill.Value(name{}) != "caller" || !ok || time.Until(end) != usual().FillTimeout {
			t.Errorf("value %v, end %v", fill.Value(name{}), end)
		}
		if s.accountOf(fill) != (account{}) {
			t.Error("what it fills counts once more")
		}
	})
}

// Two that ask at the same time look into Redis once: the second waits for the first.
func TestLookIsShared(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		far.slow = 50 * time.Millisecond
		looks := far.gets
		var coalesced atomic.Int64
		together(5, func(int) {
			h := mustFetch(t, two, "k", l)
			if h.Tier == Far && h.Coalesced {
				coalesced.Add(1)
			}
		})
		if n := far.gets - looks; n != 1 || coalesced.Load() != 4 {
			t.Errorf("%d looks, %d coalesced", n, coalesced.Load())
		}
	})
}
