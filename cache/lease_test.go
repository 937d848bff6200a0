package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// told is a failure as it comes out of Redis.
type told struct{ kind string }

func (e *told) Error() string { return e.kind }

// tellingFleet is two instances that tell failures by a word.
func tellingFleet(t *testing.T, p Policy, tell func(t *testing.T, far *shelf, one, two *Space)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		far := newShelf()
		open := func() *Space {
			return newCache(t, Config{
				Far:      far,
				Describe: func(error) string { return "unavailable" },
				Restore:  func(text string) error { return &told{text} },
			}).Space("story", p)
		}
		tell(t, far, open(), open())
	})
}

func TestWaiterHearsOfTheHoldersFailure(t *testing.T) {
	tellingFleet(t, usual(), func(t *testing.T, far *shelf, one, two *Space) {
		l := &script{takes: 500 * time.Millisecond, err: errDown}
		start := time.Now()
		together(2, func(i int) {
			_, err := []*Space{one, two}[i].Fetch(t.Context(), "k", Want{}, l)
			restored := &told{}
			if !errors.Is(err, errDown) && (!errors.As(err, &restored) || restored.kind != "unavailable") {
				t.Errorf("instance %d: %v", i, err)
			}
		})
		if took := time.Since(start); took > 600*time.Millisecond {
			t.Errorf("the waiter waited %v", took)
		}
		wantCalls(t, l, 1)
		synctest.Wait()
		for _, s := range []*Space{one, two} {
			var paused *PausedError
			if _, err := s.Fetch(t.Context(), "k", Want{}, l); !errors.As(err, &paused) || paused.Retry > time.Second {
				t.Error(err)
			}
		}
		wantCalls(t, l, 1)
		time.Sleep(time.Second)
		l.set(func(l *script) { l.err = nil })
		mustFetch(t, two, "k", l)
	})
}

func TestFailureOfAnotherInstancePausesTheKey(t *testing.T) {
	tellingFleet(t, usual(), func(t *testing.T, far *shelf, one, two *Space) {
		l := &script{err: errDown}
		_, _ = one.Fetch(t.Context(), "k", Want{}, l)
		var paused *PausedError
		if _, err := two.Fetch(t.Context(), "k", Want{}, l); !errors.As(err, &paused) || paused.Retry <= 0 {
			t.Errorf("%v", err)
		}
		wantCalls(t, l, 1)
	})
}

func TestFailureOfAnotherInstanceLeavesTheStaleCopy(t *testing.T) {
	tellingFleet(t, usual(), func(t *testing.T, far *shelf, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		time.Sleep(30 * time.Minute)
		l.set(func(l *script) { l.err = errDown })
		mustFetch(t, one, "k", l)
		for range 3 {
			h := mustFetch(t, two, "k", l)
			wantText(t, h, "answer 1")
			if h.Failed == nil {
				t.Errorf("%+v", h)
			}
		}
		wantCalls(t, l, 2)
	})
}

// The holder of a lease is gone, and so is its lease after a while.
func TestLeaseOfTheDeadIsTakenOver(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *shelf, one, two *Space) {
		far.leased["k"] = true
		after(500*time.Millisecond, func() {
			far.mu.Lock()
			defer far.mu.Unlock()
			delete(far.leased, "k")
		})
		l := &script{takes: 100 * time.Millisecond}
		start := time.Now()
		together(2, func(i int) { wantText(t, mustFetch(t, []*Space{one, two}[i], "k", l), "answer 1") })
		if took := time.Since(start); took > 800*time.Millisecond {
			t.Errorf("took %v", took)
		}
		wantCalls(t, l, 1)
		synctest.Wait()
		if len(far.leased) != 0 {
			t.Error("the lease was not given back")
		}
	})
}

// landing lands an entry in the moment in which its lease is looked for.
type lateShelf struct {
	*shelf
	looks int
	land  func()
}

func (s *lateShelf) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	value, failure, leased = s.shelf.Look(ctx, key)
	if s.looks++; s.looks == 3 {
		s.land()
		return value, failure, false
	}
	return value, failure, leased
}

func TestLandingBetweenLookAndTakeOverIsSeen(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *shelf, one, _ *Space) {
		mustFetch(t, one, "k", &script{})
		synctest.Wait()
		landed := far.values["k"]
		delete(far.values, "k")
		far.leased["k"] = true
		late := &lateShelf{shelf: far}
		late.land = func() { far.values["k"] = landed; delete(far.leased, "k") }
		l := &script{}
		h := mustFetch(t, newCache(t, Config{Far: late}).Space("story", usual()), "k", l)
		if h.Tier != Far {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 0)
		synctest.Wait()
		if len(far.leased) != 0 {
			t.Error("the lease was not given back")
		}
	})
}

func TestFailureRecords(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	c := newCache(t, Config{})
	p := usual()
	ms := now.UnixMilli()
	for text, want := range map[string]time.Duration{
		"":      0,
		"hello": 0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+2500):                                  2500 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":9,"more":1}`, ms+2500):                         2500 * time.Millisecond,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms):                                       0,
		fmt.Sprintf(`{"text":"timeout","until":%d,"times":1}`, ms+1_000_000_000):                         p.PauseMax,
		`{"text":"timeout","until":9223372036854775807,"times":1}`:                                       p.PauseMax,
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
	record := c.record(failure{err: errors.New(strings.Repeat("错", 10_000)), until: now.Add(time.Second), times: 1 << 40, covered: true})
	r, ok := c.readRecord(record, &p, now)
	if !ok || len(record) > maxRecord || !r.covered || r.until.Sub(now) != time.Second || r.times != maxFailedTimes {
		t.Errorf("%d bytes, %+v", len(record), r)
	}
	silent := newCache(t, Config{Describe: func(error) string { return "" }})
	if silent.record(failure{err: errDown}) != nil {
		t.Error("a failure nobody is to hear of is told")
	}
}

func TestPauseAfter(t *testing.T) {
	for _, r := range []struct {
		pause, most time.Duration
		times       int
		want        time.Duration
	}{
		{time.Second, 30 * time.Second, 0, time.Second},
		{time.Second, 30 * time.Second, 3, 8 * time.Second},
		{time.Second, 30 * time.Second, 5, 30 * time.Second},
		{time.Second, 30 * time.Second, 1 << 40, 30 * time.Second},
		{3 * time.Hour, 24 * time.Hour, 20, 24 * time.Hour},
		{3 * time.Hour, 1<<63 - 1, 19, 3 * time.Hour << 19},
		{3 * time.Hour, 1<<63 - 1, 1000, 1<<63 - 1},
		{1<<63 - 1, 1<<63 - 1, 1000, 1<<63 - 1},
		{time.Hour, time.Minute, 2, time.Minute},
		{time.Second, 0, 7, 0},
		{0, time.Minute, 7, 0},
	} {
		p := Policy{Pause: r.pause, PauseMax: r.most}
		if got := p.pauseAfter(r.times); got != r.want {
			t.Errorf("%v to %v after %d: %v, want %v", r.pause, r.most, r.times, got, r.want)
		}
	}
}

func TestPausesStayWithinTheirBound(t *testing.T) {
	f, now := newFailures(), time.Now()
	p := Policy{Pause: 3 * time.Hour, PauseMax: 24 * time.Hour}
	for i := range 100 {
		f.add("k", errDown, false, &p, now)
		if wait, err := f.paused("k", false, now); err == nil || wait < 2*time.Hour || wait > p.PauseMax {
			t.Fatalf("after %d: %v, %v", i, wait, err)
		}
	}
}
