package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/policy"
)

func TestFailureRecordsAreBounded(t *testing.T) {
	f := newFailures()
	p := usual()
	now := time.Now()
	for i := range maxFailures + 100 {
		f.add(fmt.Sprint(i), errDown, false, &p, now)
	}
	if n := f.lru.Len(); n != maxFailures {
		t.Errorf("%d records, want %d", n, maxFailures)
	}
}

// sharedError is a failure as it is restored from Redis.
type sharedError struct{ kind string }

func (e *sharedError) Error() string { return e.kind }

func TestFailureRecords(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	c := newCache(t, Config{})
	p := usual()
	ms := now.UnixMilli()
	for text, want := range map[string]time.Duration{
		"":      0,
		"hello": 0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+800):                                   800 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+60_800):                                p.Pause, // by a clock that is a minute ahead
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":3}`, ms+60_800):                                4 * p.Pause,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":9,"more":1}`, ms+2500):                         2500 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms):                                       0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":9}`, ms+1_000_000_000):                         p.PauseMax,
		`{"text":"timeout","until":9223372036854775807,"times":9}`:                                       p.PauseMax,
		`{"text":"timeout","until":-9223372036854775808,"times":1}`:                                      0,
		fmt.Sprintf(`{"text":"","until":%d,"times":1}`, ms+2500):                                         0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":0}`, ms+2500):                                  0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1000000}`, ms+2500):                            0,
		fmt.Sprintf(`{"text":%q,"until":%d,"times":1}`, strings.Repeat("x", 300), ms+9):                  0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+2500) + strings.Repeat(" ", maxRecord): 0,
	} {
		r, ok := c.readRecord([]byte(text), &p, now)
		if ok != (want > 0) || ok && r.until.Sub(now) != want {
			t.Errorf("%.80s: %v until %v, want %v", text, ok, r.until.Sub(now), want)
		}
	}
}

func TestRecordIsBounded(t *testing.T) {
	c := newCache(t, Config{})
	now := time.UnixMilli(1_790_000_000_000)
	p := usual()
	record := c.record(failure{err: errors.New(strings.Repeat("错", 10_000)), until: now.Add(time.Second), streak: 1 << 40, hadCopy: true})
	r, ok := c.readRecord(record, &p, now)
	if !ok || len(record) > maxRecord || !r.hadCopy || r.until.Sub(now) != time.Second || r.streak != maxStreak {
		t.Errorf("%d bytes, %+v", len(record), r)
	}
	silent := newCache(t, Config{Describe: func(error) string { return "" }})
	if silent.record(failure{err: errDown}) != nil {
		t.Error("a failure that is not to be shared is")
	}
}

func TestPausesStayWithinTheirBound(t *testing.T) {
	f, now := newFailures(), time.Now()
	p := policy.Policy{Pause: 3 * time.Hour, PauseMax: 24 * time.Hour}
	for i := range 100 {
		f.add("k", errDown, false, &p, now)
		if wait, err := f.paused("k", false, now); err == nil || wait < 2*time.Hour || wait > p.PauseMax {
			t.Fatalf("after %d: %v, %v", i, wait, err)
		}
	}
}

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
