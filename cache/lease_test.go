package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// sharingFleet is two instances that share failures by their kind.
func sharingFleet(t *testing.T, p Policy, run func(t *testing.T, far *fakeRemote, one, two *Space)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		open := func() *Space {
			return newCache(t, Config{
				Far:      far,
				Describe: func(error) string { return "unavailable" },
				Restore:  func(text string) error { return &sharedError{text} },
			}).Space("story", p)
		}
		run(t, far, open(), open())
	})
}

func TestWaitingInstanceGetsTheHoldersFailure(t *testing.T) {
	sharingFleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{takes: 500 * time.Millisecond, err: errDown}
		start := time.Now()
		together(2, func(i int) {
			_, err := []*Space{one, two}[i].Fetch(t.Context(), "k", Want{}, l)
			restored := &sharedError{}
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
	sharingFleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
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
	sharingFleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
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

// The holder of a lease has died, and its lease ends after a while.
func TestLeaseOfADeadInstanceIsTakenOver(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
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
			t.Error("the lease was not released")
		}
	})
}

// lateRemote holds the other instance's result only when its lease is looked for.
type lateRemote struct {
	*fakeRemote
	looks  int
	finish func()
}

func (s *lateRemote) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	value, failure, leased = s.fakeRemote.Look(ctx, key)
	if s.looks++; s.looks == 3 {
		s.finish()
		return value, failure, false
	}
	return value, failure, leased
}

func TestResultBetweenLookAndTakeOverIsSeen(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
		mustFetch(t, one, "k", &script{})
		synctest.Wait()
		result := far.values["k"]
		delete(far.values, "k")
		far.leased["k"] = true
		late := &lateRemote{fakeRemote: far}
		late.finish = func() { far.values["k"] = result; delete(far.leased, "k") }
		l := &script{}
		h := mustFetch(t, newCache(t, Config{Far: late}).Space("story", usual()), "k", l)
		if h.Tier != Far {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 0)
		synctest.Wait()
		if len(far.leased) != 0 {
			t.Error("the lease was not released")
		}
	})
}

// finishing is a Redis whose lease was held, and nothing stored, at the first look:
// its holder finishes right after.
type finishing struct {
	*fakeRemote
	looked bool
}

func (f *finishing) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	if !f.looked {
		f.looked = true
		return nil, nil, true
	}
	return f.fakeRemote.Look(ctx, key)
}

func TestHolderThatFinishesBeforeTheLeaseIsRequested(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, l := newFakeRemote(), &script{}
		mustFetch(t, newCache(t, Config{Far: far}).Space("story", usual()), "k", l)
		synctest.Wait()
		late := newCache(t, Config{Far: &finishing{fakeRemote: far}}).Space("story", usual())
		if h := mustFetch(t, late, "k", l); h.Tier != Far {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 1)
	})
}
