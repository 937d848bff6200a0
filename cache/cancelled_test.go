package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stubborn loaders bring something whatever became of the context.
func stubborn(what func() (Content, error), takes time.Duration) Loader {
	return loaderFunc(func(ctx context.Context, _ bool) (Content, error) {
		select {
		case <-ctx.Done():
		case <-time.After(takes):
		}
		return what()
	})
}

func TestCancelledFillStoresNothing(t *testing.T) {
	for name, l := range map[string]Loader{
		"an answer": stubborn(func() (Content, error) { return textContent("x"), nil }, time.Hour),
		"a no":      stubborn(func() (Content, error) { return no(), nil }, time.Hour),
		"an error":  stubborn(func() (Content, error) { return Content{}, errDown }, time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := newShelf()
				c := newCache(t, Config{Far: far})
				s := c.Space("story", usual())
				var wg sync.WaitGroup
				wg.Go(func() {
					if h, err := s.Fetch(t.Context(), "k", Want{}, l); !errors.Is(err, context.Canceled) {
						t.Errorf("%+v, %v", h, err)
					}
				})
				time.Sleep(time.Second)
				c.flight.stop()
				wg.Wait()
				synctest.Wait()
				_, _, found := s.Look("k")
				if _, err := c.failed.paused("k", false, time.Now()); found || err != nil || len(far.values)+len(far.failures)+len(far.leased) != 0 {
					t.Errorf("left behind: found %v, paused %v, %d values, %d failures, %d leases", found, err, len(far.values), len(far.failures), len(far.leased))
				}
			})
		})
	}
}

func TestLateFillStoresNothingAndPauses(t *testing.T) {
	for name, what := range map[string]func() (Content, error){
		"an answer": func() (Content, error) { return textContent("x"), nil },
		"a no":      func() (Content, error) { return no(), nil },
		"an error":  func() (Content, error) { return Content{}, errDown },
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *shelf, one, _ *Space) {
				l := stubborn(what, time.Hour)
				_, err := one.Fetch(t.Context(), "k", Want{}, l)
				if !errors.Is(err, context.DeadlineExceeded) || name == "an error" && !errors.Is(err, errDown) {
					t.Error(err)
				}
				synctest.Wait()
				var paused *PausedError
				if _, err := one.Fetch(t.Context(), "k", Want{}, l); !errors.As(err, &paused) {
					t.Errorf("not paused: %v", err)
				}
				if _, _, found := one.Look("k"); found || len(far.values) != 0 {
					t.Error("a late fill was kept")
				}
			})
		})
	}
}

// As a chain does whose sources are all skipped when time is over.
func TestCloseWhileAnotherHoldsTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newShelf()
		far.leased["k"] = true
		c := newCache(t, Config{Far: far})
		s := c.Space("story", usual())
		asked := false
		l := loaderFunc(func(context.Context, bool) (Content, error) { asked = true; return no(), nil })
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := s.Fetch(t.Context(), "k", Want{}, l); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		time.Sleep(200 * time.Millisecond)
		c.flight.stop()
		wg.Wait()
		synctest.Wait()
		if asked || len(far.values)+len(far.failures) != 0 {
			t.Errorf("asked %v; Redis: %v %v", asked, far.values, far.failures)
		}
	})
}

// What a fill holds is given back when its loader panics: the lease, the key, and its place among those that Close waits for (newCache
// closes).
func TestPanicGivesBackWhatTheFillHolds(t *testing.T) {
	p := usual()
	p.PauseMax = 0
	fleet(t, p, func(t *testing.T, far *shelf, one, _ *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		l.set(func(l *script) { l.make = func(int64) (Content, error) { panic("loader") } })
		for range 3 {
			time.Sleep(2 * time.Minute)
			wantText(t, mustFetch(t, one, "k", l), "answer 1")
			synctest.Wait()
			if len(far.leased) != 0 || len(one.cache.flight.of) != 0 {
				t.Errorf("held: %v, under way: %v", far.leased, one.cache.flight.of)
			}
		}
		wantCalls(t, l, 4)
	})
}

type brokenShelf struct{ *shelf }

func (brokenShelf) Look(context.Context, string) ([]byte, []byte, bool) { panic("far") }

func TestPanicOutsideTheLoaderIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCache(t, Config{Far: brokenShelf{newShelf()}}).Space("story", usual())
		if _, err := s.Fetch(t.Context(), "k", Want{}, &script{}); err == nil {
			t.Error("no error")
		}
	})
}
