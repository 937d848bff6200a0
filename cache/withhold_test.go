package cache

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatARefreshIsWorth(t *testing.T) {
	p := Policy{TTL: time.Hour, Grace: 10 * time.Hour, StaleIfError: 100 * time.Hour}
	daily := Policy{Until: must(ParseCalendar("06:00 UTC")), Poll: 10 * time.Minute, Grace: 10 * time.Hour}
	without := Policy{TTL: time.Hour, StaleIfError: 100 * time.Hour}
	const minute, hour = time.Minute, time.Hour
	for _, c := range []struct {
		name   string
		policy *Policy
		state  State
		left   time.Duration
		quota  float64
		want   bool
	}{
		{"plenty is left, still fresh", &p, Eager, minute, 1, true},
		{"a quarter is left, still fresh", &p, Eager, minute, 0.25, true},
		{"less, still fresh", &p, Eager, minute, 0.24, false},
		{"a quarter is left, just stale", &p, Grace, -minute, 0.25, true},
		{"less, just stale", &p, Grace, -minute, 0.24, false},
		{"a fifth of grace must pass: not yet", &p, Grace, -119 * minute, 0.2, false},
		{"a fifth of grace must pass: has", &p, Grace, -2 * hour, 0.2, true},
		{"four fifths must pass: not yet", &p, Grace, -7 * hour, 0.05, false},
		{"four fifths must pass: has", &p, Grace, -8 * hour, 0.05, true},
		{"past grace, a little is left", &p, Stale, -10 * hour, 0.01, true},
		{"past grace, nothing is left", &p, Stale, -50 * hour, 0, false},
		{"in grace, nothing is left", &p, Grace, -9 * hour, 0, false},
		{"publication due, a little is left: not yet", &daily, Grace, -4 * minute, 0.125, false},
		{"publication due, half of poll has passed", &daily, Grace, -5 * minute, 0.125, true},
		{"publication due, nothing is left", &daily, Grace, -hour, 0, false},
		{"no grace, a little is left", &without, Stale, -time.Second, 0.01, true},
		{"no grace, nothing is left", &without, Stale, -hour, 0, false},
	} {
		if got := c.policy.worthCall(c.state, c.left, c.quota); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// thrifty is a script whose quota a test sets.
type thrifty struct {
	script
	left  atomic.Int64 // percent
	asked atomic.Int64
}

func (l *thrifty) Withholds(_ context.Context, worth func(float64) bool) bool {
	l.asked.Add(1)
	return !worth(float64(l.left.Load()) / 100)
}

// TestRefreshesAreWithheld: in each of its states a copy is served at once, without a
// call, until the pause is over and the quota restored. A key without one is loaded.
func TestRefreshesAreWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		age    time.Duration
		state  State
		eager  float64
		failed error
	}{
		"eager": {59 * time.Second, Eager, 0.1, nil},
		"grace": {2 * time.Minute, Grace, 0, nil},
		"stale": {20 * time.Minute, Stale, 0, errWithheld},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, l := usual(), &thrifty{}
				p.Eager = c.eager
				s := newCache(t, Config{}).Space("story", p)
				mustFetch(t, s, "k", l)
				time.Sleep(c.age)
				for range 100 {
					hit := mustFetch(t, s, "k", l)
					wantText(t, hit, "answer 1")
					if hit.State != c.state || !errors.Is(hit.Failed, c.failed) {
						t.Fatalf("%v, %v", hit.State, hit.Failed)
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
		l := &thrifty{}
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
		l, p := &thrifty{}, usual()
		s := newCache(t, Config{}).Space("story", p)
		mustFetch(t, s, "k", l)
		time.Sleep(p.TTL + p.StaleIfError - time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 1")
		time.Sleep(2 * time.Second)
		wantText(t, mustFetch(t, s, "k", l), "answer 2")
	})
}

// TestWithheldKeysAreBounded: a flood of them costs no more memory than that of failures.
func TestWithheldKeysAreBounded(t *testing.T) {
	w, now := newWithheld(), time.Unix(1_795_219_200, 0)
	for i := range maxFailures + 10 {
		w.add(fmt.Sprint(i), now.Add(time.Minute))
	}
	if n := w.until.Len(); n != maxFailures {
		t.Errorf("%d keys", n)
	}
	if w.paused("0", now) || !w.paused("20000", now) || w.paused("20000", now.Add(time.Minute)) {
		t.Error("the newest are remembered, until their time")
	}
}
