package cache

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/policy"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// metered is a script whose quota a test sets.
type metered struct {
	script
	left  atomic.Int64 // percent
	asked atomic.Int64
}

func (l *metered) Withholds(_ context.Context, worth func(float64) bool) bool {
	l.asked.Add(1)
	return !worth(float64(l.left.Load()) / 100)
}

// TestRefreshesAreWithheld: in each of its states a copy is served at once, without a
// call, until the pause is over and the quota restored. A key without one is loaded.
func TestRefreshesAreWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		age    time.Duration
		state  policy.State
		eager  float64
		failed error
	}{
		"eager": {59 * time.Second, policy.Eager, 0.1, nil},
		"grace": {2 * time.Minute, policy.Grace, 0, nil},
		"stale": {20 * time.Minute, policy.Stale, 0, errWithheld},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := usual(), &metered{}
				p.Eager = c.eager
				s := newCache(t, Config{}).Space("story", p)
				mustFetch(t, s, "k", l)
				time.Sleep(c.age)
				for range 100 {
					answer := mustFetch(t, s, "k", l)
					wantText(t, answer, "answer 1")
					if answer.State != c.state || !errors.Is(answer.Failed, c.failed) {
						t.Fatalf("%v, %v", answer.State, answer.Failed)
					}
				}
				wantText(t, mustFetch(t, s, "new", l), "answer 2")
				synctest.Wait()
				wantCalls(t, &l.script, 2)
				if n := l.asked.Load(); n != 1 {
					t.Errorf("it was decided %d times in the pause", n)
				}
				l.left.Store(100)
				time.Sleep(p.PauseMax)
				mustFetch(t, s, "k", l)
				synctest.Wait()
				wantText(t, mustFetch(t, s, "k", l), "answer 3")
			})
		})
	}
}

// TestWarmingIsWithheldWhereThereIsACopy: without one, it saves a caller the wait.
func TestWarmingIsWithheldWhereThereIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &metered{}
		s := newCache(t, Config{}).Space("story", usual())
		if _, err := s.Warm(t.Context(), "k", l); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.Warm(t.Context(), "k", l); !errors.Is(err, errWithheld) {
			t.Errorf("%v", err)
		}
		wantCalls(t, &l.script, 1)
	})
}

// TestACopyThatMayNotBeServedIsNotWaitedFor: past stale_if_error the key is loaded,
// whatever was withheld before.
func TestACopyThatMayNotBeServedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, p := &metered{}, usual()
		s := newCache(t, Config{}).Space("story", p)
		mustFetch(t, s, "k", l)
		time.Sleep(p.TTL + p.StaleIfError - time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 1")
		time.Sleep(2 * time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 2")
	})
}
