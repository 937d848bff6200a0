package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// sharingFleet is two instances that share failures by their kind.
func sharingFleet(t *testing.T, p policy.Policy, run func(t *testing.T, far *fakeRemote, one, two *Space)) {
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
			_, err := []*Space{one, two}[i].Get(t.Context(), "k", Want{}, l)
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
			if _, err := s.Get(t.Context(), "k", Want{}, l); !errors.As(err, &paused) || paused.Retry > time.Second {
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
		_, _ = one.Get(t.Context(), "k", Want{}, l)
		var paused *PausedError
		if _, err := two.Get(t.Context(), "k", Want{}, l); !errors.As(err, &paused) || paused.Retry <= 0 {
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

// Waiters look into Redis now and then, and have the outcome soon.
func TestWaitersPoll(t *testing.T) {
	for what, err := range map[string]error{"entry": nil, "failure": errDown} {
		t.Run(what, func(t *testing.T) {
			sharingFleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
				const takes, slowest = 3 * time.Second, time.Duration((1 + pollSpread) * float64(leasePoll))
				l := &script{takes: takes, err: err}
				start := time.Now()
				together(2, func(i int) {
					_, _ = []*Space{one, two}[i].Get(t.Context(), "k", Want{}, l)
					if took := time.Since(start); took < takes || took > takes+slowest {
						t.Errorf("an instance had it after %v", took)
					}
				})
				wantCalls(t, l, 1)
				if most := 10 + int(takes/(leasePoll/2)); far.gets > most {
					t.Errorf("%d looks into Redis, expected at most %d", far.gets, most)
				}
			})
		})
	}
}

// A holder whose callers leave gives up: the next one begins soon.
func TestLeaseThatIsGivenUpIsTakenOver(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{takes: time.Second}
		ctx, leave := context.WithTimeout(t.Context(), 700*time.Millisecond)
		defer leave()
		start := time.Now()
		together(2, func(i int) {
			if i == 0 {
				_, _ = one.Get(ctx, "k", Want{}, l)
				return
			}
			time.Sleep(time.Millisecond)
			wantText(t, mustFetch(t, two, "k", l), "answer 2")
		})
		if took := time.Since(start); took < 1700*time.Millisecond || took > 1700*time.Millisecond+2*leasePoll {
			t.Errorf("took %v", took)
		}
		synctest.Wait()
		if len(far.leased) != 0 {
			t.Error("the lease was not released")
		}
	})
}

// Redis is killed, with the lease in it: who waits begins soon.
func TestWaiterWhoseRedisIsKilledFills(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		far.leased["k"] = true // by a third
		after(50*time.Millisecond, func() {
			far.mu.Lock()
			clear(far.leased)
			far.mu.Unlock()
		})
		l := &script{}
		start := time.Now()
		together(2, func(i int) { mustFetch(t, []*Space{one, two}[i], "k", l) })
		if took := time.Since(start); took > 50*time.Millisecond+2*leasePoll {
			t.Errorf("took %v", took)
		}
	})
}

// The holder of a lease has died, and its lease ends after a while.
func TestLeaseOfADeadInstanceIsTakenOver(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		far.leased["k"], far.dies["k"] = true, time.Now().Add(time.Second)
		l := &script{takes: 100 * time.Millisecond}
		start := time.Now()
		together(2, func(i int) { wantText(t, mustFetch(t, []*Space{one, two}[i], "k", l), "answer 1") })
		if took := time.Since(start); took > 1100*time.Millisecond+2*leasePoll {
			t.Errorf("took %v", took)
		}
		wantCalls(t, l, 1)
		synctest.Wait()
		if len(far.leased) != 0 {
			t.Error("the lease was not released")
		}
	})
}

// overtaken is a Redis in which another instance does something between a look and the
// lease.
type overtaken struct {
	*fakeRemote
	meanwhile []func() // behind the next looks
}

// Look takes no lease, as in a Cluster.
func (o *overtaken) Look(ctx context.Context, key string, _ time.Duration) entry.Found {
	found := o.fakeRemote.Look(ctx, key, 0)
	if len(o.meanwhile) > 0 {
		do := o.meanwhile[0]
		o.meanwhile = o.meanwhile[1:]
		do()
	}
	return found
}

// A holder may finish behind a look that has found its lease and no result, and behind one
// that has found neither.
func TestResultBetweenLookAndLeaseIsSeen(t *testing.T) {
	nothing := func() {}
	for name, steps := range map[string]func(store, release func()) []func(){
		"the lease is asked for":  func(store, release func()) []func() { return []func(){func() { store(); release() }} },
		"the lease is taken over": func(store, release func()) []func() { return []func(){nothing, release, store} },
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
				mustFetch(t, one, "k", &script{})
				synctest.Wait()
				result := far.values["k"]
				delete(far.values, "k")
				far.leased["k"] = true
				meanwhile := steps(func() { far.values["k"] = result }, func() { delete(far.leased, "k") })
				l := &script{}
				late := newCache(t, Config{Far: &overtaken{far, meanwhile}}).Space("story", usual())
				if h := mustFetch(t, late, "k", l); h.Tier != Far {
					t.Errorf("%+v", h)
				}
				wantCalls(t, l, 0)
				synctest.Wait()
				if len(far.leased) != 0 {
					t.Error("the lease was not released")
				}
			})
		})
	}
}

// Instances that look for a late edition at the same moment make one call, also where one
// of them has finished before another one asks for the lease.
func TestAPollBetweenLookAndLeaseIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.TTL, p.Until, p.Poll = 0, must(policy.ParseCalendar("06:00 UTC")), time.Minute
		far := newFakeRemote()
		slow := &overtaken{fakeRemote: far}
		one, two := newCache(t, Config{Far: far}).Space("story", p), newCache(t, Config{Far: slow}).Space("story", p)
		l := &script{make: func(int64) (entry.Content, error) {
			c := textContent("old")
			c.Edition = "1999-12-01"
			return c, nil
		}}
		warm := func(s *Space) {
			if _, err := s.Warm(t.Context(), "story:k", l); err != nil {
				t.Error(err)
			}
		}
		warm(one)
		synctest.Wait()
		warm(two)
		wantCalls(t, l, 1)
		time.Sleep(time.Minute)
		slow.meanwhile = []func(){func() { warm(one); synctest.Wait() }}
		warm(two)
		wantCalls(t, l, 2)
		if due, err := two.Warm(t.Context(), "story:k", l); err != nil || !due.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("due at %v, %v", due, err)
		}
	})
}

// Instances that start at the same moment, with nothing in Redis, make one call for what
// all of them warm up.
func TestAFirstFillBetweenLookAndLeaseIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.TTL, p.Until, p.Poll = 0, must(policy.ParseCalendar("06:00 UTC")), time.Minute
		far := newFakeRemote()
		slow := &overtaken{fakeRemote: far}
		one, two := newCache(t, Config{Far: far}).Space("story", p), newCache(t, Config{Far: slow}).Space("story", p)
		l := &script{}
		slow.meanwhile = []func(){func() { mustFetch(t, one, "k", l); synctest.Wait() }}
		if h := mustFetch(t, two, "k", l); h.Tier != Far {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 1)
	})
}
