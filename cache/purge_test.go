package cache

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/confirm"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/cache/purged"
)

func TestHardPurgeEmptiesAnEndpoint(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		time.Sleep(time.Second)
		for _, s := range []*Space{one, two} {
			s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}})
		}
		time.Sleep(time.Second)
		if h := mustFetch(t, two, "k", l); h.Tier != Upstream {
			t.Errorf("the far tier gave what was purged: %+v", h)
		}
		wantText(t, mustFetch(t, one, "k", l), "answer 2")
		wantCalls(t, l, 2)
		if h := mustFetch(t, one, "k", l); h.State != policy.Fresh || h.Tier != Near {
			t.Errorf("what came after the purge: %+v", h)
		}
	})
}

func TestSoftPurgeKeepsAStaleCopy(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(time.Second)
		s.cache.SetPurges(map[string]policy.Purge{policy.AllEndpoints: {Soft: time.Now()}})
		l.set(func(l *script) { l.err = errors.New("down") })
		if h := mustFetch(t, s, "k", l); h.State != policy.Grace || h.Left > 0 {
			t.Errorf("softly purged: %+v", h)
		}
		synctest.Wait() // for the refresh that fails
		l.set(func(l *script) { l.err = nil })
		time.Sleep(time.Minute)
		mustFetch(t, s, "k", l)
		time.Sleep(time.Second)
		if h := mustFetch(t, s, "k", l); h.State != policy.Fresh {
			t.Errorf("not refreshed: %+v", h)
		}
	})
}

func TestPurgesDoNotTouchOthers(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		s.cache.SetPurges(map[string]policy.Purge{"other": {Hard: time.Now()}})
		wantText(t, mustFetch(t, s, "k", l), "answer 1")
		late := s.cache.Space("other", usual())
		if m := late.purge.Load(); m == nil || m.Hard.IsZero() {
			t.Error("the purge does not apply to a space that was opened later")
		}
		s.cache.SetPurges(nil)
		if late.purge.Load() != nil {
			t.Error("purges cannot be withdrawn")
		}
	})
}

// after runs f once the bubble's clock has gone on by d.
func after(d time.Duration, f func()) { time.AfterFunc(d, f) }

func hardPurge(spaces ...*Space) {
	for _, s := range spaces {
		s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}})
	}
}

func TestAgeCountsFromBeforeTheLoad(t *testing.T) {
	l := &script{takes: 3 * time.Second}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		if h := mustFetch(t, s, "k", l); h.Age != 3*time.Second || h.Left != 57*time.Second {
			t.Errorf("age %v, %v left", h.Age, h.Left)
		}
	})
}

func TestHardPurgeReachesAFillUnderWay(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{takes: 3 * time.Second}
		after(time.Second, func() { hardPurge(one, two) })
		wantText(t, mustFetch(t, one, "k", l), "answer 2")
		wantCalls(t, l, 2)
		synctest.Wait()
		wantText(t, mustFetch(t, one, "k", l), "answer 2")
		wantText(t, mustFetch(t, two, "k", l), "answer 2")
		wantCalls(t, l, 2)
	})
}

func TestPurgeAfterPurgeIsAnsweredAndNotKept(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
		l := &script{takes: 3 * time.Second}
		for at := time.Second; at < 10*time.Second; at += 2 * time.Second {
			after(at, func() { hardPurge(one) })
		}
		if h := mustFetch(t, one, "k", l); h.Stored {
			t.Errorf("stored: %+v", h)
		}
		wantCalls(t, l, maxLoads)
		synctest.Wait()
		if len(far.values) != 0 {
			t.Error("Redis has what was purged during its load")
		}
		if _, _, ok := one.Look("k"); ok {
			t.Error("memory has what was purged during its load")
		}
	})
}

func TestFillRightAfterAPurgeIsKept(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		hardPurge(s)
		mustFetch(t, s, "k", l)
		if h := mustFetch(t, s, "k", l); h.Tier != Near || h.State != policy.Fresh {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 1)
	})
}

// A purge comes from an instance whose clock is a little ahead.
func TestPurgeFromAClockAhead(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now().Add(5 * time.Second)}})
		mustFetch(t, s, "k", l)
		if h := mustFetch(t, s, "k", l); h.Tier != Near || h.State != policy.Fresh || h.Age != 0 {
			t.Errorf("%+v", h)
		}
		wantCalls(t, l, 2)
	})
}

// TestAPurgeOfTheFutureIsOfWhenItWasHeard: one that was stamped by a clock that is an hour
// ahead purges what there is, once, and does not turn the cache off.
func TestAPurgeOfTheFutureIsOfWhenItWasHeard(t *testing.T) {
	for name, stamp := range map[string]func(time.Time) policy.Purge{
		"hard": func(at time.Time) policy.Purge { return policy.Purge{Hard: at} },
		"soft": func(at time.Time) policy.Purge { return policy.Purge{Soft: at} },
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{}
				order := func(at time.Time, heard ...*Space) {
					for _, s := range heard {
						s.cache.SetPurges(map[string]policy.Purge{"story": stamp(at)})
					}
				}
				fetch := func(want int64, from ...*Space) {
					t.Helper()
					for _, s := range from {
						for range 20 {
							mustFetch(t, s, "k", l)
							synctest.Wait() // for the refresh after a soft one
						}
					}
					wantCalls(t, l, want)
				}
				ahead := time.Now().Add(time.Hour)
				fetch(1, one, two)
				time.Sleep(10 * time.Second)
				order(ahead, one, two)
				fetch(2, one, two)
				time.Sleep(10 * time.Second)
				order(ahead, one, two) // with another change
				fetch(2, one, two)
				order(ahead.Add(time.Millisecond), one, two) // a second one, made after it
				fetch(3, one, two)
				time.Sleep(10 * time.Second)
				restarted := newCache(t, Config{Far: far}).Space("story", usual())
				order(ahead.Add(time.Millisecond), restarted) // it does not know what was made since
				fetch(4, restarted, one, two)
			})
		})
	}
}

// TestADropOfTheFutureIsOfWhenItWasHeard as well.
func TestADropOfTheFutureIsOfWhenItWasHeard(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(2 * time.Second)
		s.PurgeKey("k", time.Now().Add(30*time.Second))
		for range 20 {
			mustFetch(t, s, "k", l)
		}
		wantCalls(t, l, 2)
		if e, _, _ := s.Look("k"); e.Meta.FromFuture(time.Now()) {
			t.Errorf("an entry of the future: %v", e.Meta.Created)
		}
	})
}

func TestPurgedCopyIsNoFallback(t *testing.T) {
	for name, takes := range map[string]time.Duration{"at once": 100 * time.Millisecond, "past the soft timeout": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			l := &script{}
			story(t, usual(), l, func(t *testing.T, s *Space) {
				mustFetch(t, s, "k", l)
				time.Sleep(30 * time.Minute)
				l.set(func(l *script) { l.err, l.takes = errDown, takes })
				after(50*time.Millisecond, func() { hardPurge(s) })
				if h, err := s.Get(t.Context(), "k", Want{}, l); !errors.Is(err, errDown) {
					t.Errorf("%+v, %v", h, err)
				}
			})
		})
	}
}

func TestPurgeReachesWhatPartsWereMadeBefore(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		since := time.Now()
		l.set(func(l *script) {
			l.make = func(n int64) (entry.Content, error) {
				c := textContent("x")
				c.Since = since
				return c, nil
			}
		})
		time.Sleep(10 * time.Second)
		s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}})
		time.Sleep(10 * time.Second)
		for range 2 {
			if h := mustFetch(t, s, "k", l); h.Stored {
				t.Error("kept, although it was made of purged parts")
			}
		}
		since = time.Now()
		mustFetch(t, s, "k", l)
		if h := mustFetch(t, s, "k", l); h.Tier != Near {
			t.Errorf("%+v", h)
		}
	})
}

func TestPurgeKeyReachesBothTiersAndFills(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		mustFetch(t, one, "other", l)
		synctest.Wait()
		kept := far.values["k"]
		time.Sleep(time.Second)
		one.PurgeKey("k", time.Now())
		synctest.Wait()
		if far.values["k"] != nil || far.values["other"] == nil {
			t.Error("Redis has the purged entry, or lost another")
		}
		far.values["k"] = kept // as a write that was late leaves it
		l.set(func(l *script) { l.text = "new" })
		wantText(t, mustFetch(t, one, "k", l), "new")
		wantText(t, mustFetch(t, one, "other", l), "answer 2")
		wantCalls(t, l, 3)

		time.Sleep(time.Second)
		l.set(func(l *script) { l.text, l.takes = "", time.Second })
		one.PurgeKey("k", time.Now())
		two.PurgeKey("k", time.Now())
		after(500*time.Millisecond, func() { two.PurgeKey("k", time.Now()) })
		wantText(t, mustFetch(t, two, "k", l), "answer 5")
		time.Sleep(purged.Life + time.Second)
		_, _, _ = two.Look("k")
		if two.keys.Any(time.Now()) {
			t.Error("purged keys are not forgotten")
		}
	})
}

func TestPurgeKeyOfThePastSparesLaterEntries(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		ordered := time.Now()
		time.Sleep(time.Second)
		mustFetch(t, s, "k", l)
		s.PurgeKey("k", ordered)
		mustFetch(t, s, "k", l)
		wantCalls(t, l, 1)
	})
}

// TestAnOrderOfThePastSparesWhatRedisGotSince: an instance that starts carries out the drops of
// weeks, and one that hears of a drop late comes after another that filled the key again.
func TestAnOrderOfThePastSparesWhatRedisGotSince(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		ordered := time.Now()
		time.Sleep(time.Second)
		mustFetch(t, one, "k", l)
		synctest.Wait()
		two.PurgeKey("k", ordered)
		synctest.Wait()
		if far.values["k"] == nil {
			t.Fatal("an entry that is newer than the drop is gone from Redis")
		}
		wantText(t, mustFetch(t, two, "k", l), "answer 1")
		wantCalls(t, l, 1)
	})
}

func TestPurgedKeysAreSharedByName(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		s.cache.Space("story", usual()).PurgeKey("k", time.Now())
		mustFetch(t, s, "k", l)
		wantCalls(t, l, 2)
	})
}

type loaderFunc func(ctx context.Context, hasCopy bool) (entry.Content, error)

func (f loaderFunc) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	return f(ctx, hasCopy)
}

// TestAPurgeThatIsDatedAnewBringsNothingBack: a clock that was ahead is set, and the purge is
// dated earlier by it.
func TestAPurgeThatIsDatedAnewBringsNothingBack(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"an earlier entry": -10 * time.Second, "one from what is the future now": 30 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newCache(t, Config{}).Space("story", usual())
				s.cache.near.Put(policy.Shared, "story:k", made(t, s, "story:k", textContent("purged"), time.Now().Add(ahead)))
				s.cache.setPurges(map[string]policy.Purge{"story": {Hard: time.Now()}}, time.Now().Add(time.Minute)) // as it was heard
				s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now().Add(-time.Minute)}})
				time.Sleep(40 * time.Second)
				wantText(t, mustFetch(t, s, "story:k", &script{text: "new"}), "new")
			})
		})
	}
}

// TestAClockThatIsSetBackAfterAPurge: what is asked for since then is kept.
func TestAClockThatIsSetBackAfterAPurge(t *testing.T) {
	const ahead = 8 * time.Hour
	for name, purge := range map[string]func(*Space, time.Time){
		"hard": func(s *Space, at time.Time) { s.cache.setPurges(map[string]policy.Purge{"story": {Hard: at}}, at) },
		"soft": func(s *Space, at time.Time) { s.cache.setPurges(map[string]policy.Purge{"story": {Soft: at}}, at) },
		"of all": func(s *Space, at time.Time) {
			s.cache.setPurges(map[string]policy.Purge{policy.AllEndpoints: {Hard: at}}, at)
		},
		"of a key": func(s *Space, at time.Time) { s.rememberParts("story:k", at, at); s.purgeKey("story:k", at, at) },
	} {
		t.Run(name, func(t *testing.T) {
			l := &script{}
			story(t, usual(), l, func(t *testing.T, s *Space) {
				purge(s, time.Now().Add(ahead))
				mustFetch(t, s, "story:k", l)
				synctest.Wait() // for the refresh of a soft one
				for range 3 {
					time.Sleep(2 * time.Second)
					if h := mustFetch(t, s, "story:k", l); h.Tier != Near || h.State != policy.Fresh {
						t.Errorf("%+v", h)
					}
				}
				wantCalls(t, l, 1)
				l.set(func(l *script) { l.err = errors.New("down") })
				time.Sleep(20 * time.Minute)
				wantText(t, mustFetch(t, s, "story:k", l), "answer 1")
			})
		})
	}
}

// TestAClockThatIsSetBackBringsNothingBack, when it has caught up: the purge was dated anew,
// since another key was asked for.
func TestAClockThatIsSetBackBringsNothingBack(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		at := time.Now().Add(time.Minute)
		s.cache.near.Put(policy.Shared, "story:other", made(t, s, "story:other", textContent("purged"), at.Add(-time.Second)))
		s.cache.setPurges(map[string]policy.Purge{"story": {Hard: at}}, at)
		mustFetch(t, s, "story:k", l)
		time.Sleep(time.Minute)
		wantText(t, mustFetch(t, s, "story:other", l), "answer 2")
	})
}

// TestWhatIsPurgedForOneIsReplacedForAll: two instances may date a purge and what followed it
// so differently that one of them takes an entry for purged that the other one serves. What
// it puts in its place is found when the copy of the other one is confirmed.
func TestWhatIsPurgedForOneIsReplacedForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		one, two := newCache(t, Config{Far: far}), newCache(t, Config{Far: far})
		serves, takesItForPurged := one.Space("story", usual()), two.Space("story", usual())
		mustFetch(t, serves, "story:k", &script{text: "first"})
		time.Sleep(100 * time.Millisecond)
		two.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}})
		time.Sleep(100 * time.Millisecond)
		wantText(t, mustFetch(t, takesItForPurged, "story:k", &script{text: "second"}), "second")
		time.Sleep(confirm.Every)
		mustFetch(t, serves, "story:k", &script{text: "third"})
		synctest.Wait()
		wantText(t, mustFetch(t, serves, "story:k", &script{text: "third"}), "second")
	})
}

// madeOf is a space whose answers are made of a value that is kept for an hour.
type madeOf struct {
	*Space
	values *Values
	asked  int
}

func newMadeOf(t *testing.T, session bool) *madeOf {
	c := newCache(t, Config{})
	m := &madeOf{Space: c.Space("music", usual()), values: openValues(c, "music/playlist", policy.Keyed)}
	m.values.Session = session
	return m
}

func (m *madeOf) get(t *testing.T, key string) {
	t.Helper()
	mustFetch(t, m.Space, key, loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
		_, created, err := m.values.Get(ctx, "id of "+key, func(context.Context) (any, error) { m.asked++; return m.asked, nil })
		c := textContent("made of it")
		if !m.values.Session {
			c.Since = created
		}
		return c, err
	}))
}

// TestADropTakesTheValues that the entry was made of, however long nobody asks for the key;
// once.
func TestADropTakesTheValues(t *testing.T) {
	for session, want := range map[bool]int{false: 3, true: 2} {
		synctest.Test(t, func(t *testing.T) {
			m := newMadeOf(t, session)
			m.get(t, "k")
			m.get(t, "other")
			time.Sleep(10 * time.Minute)
			m.PurgeKey("k", time.Now())
			time.Sleep(30 * time.Minute)
			for range 3 {
				m.get(t, "k")
				m.get(t, "other")
				time.Sleep(time.Minute)
			}
			if m.asked != want {
				t.Errorf("session %v: asked %d times, want %d", session, m.asked, want)
			}
			time.Sleep(time.Hour)
			m.get(t, "k")
			if m.dropped.Any(time.Now()) {
				t.Error("the drop is not forgotten")
			}
		})
	}
}

// TestDropsAreNotForgottenForWantOfRoom: past it, the oldest counts for all keys.
func TestDropsAreNotForgottenForWantOfRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMadeOf(t, false)
		m.get(t, "k")
		time.Sleep(time.Second)
		m.PurgeKey("k", time.Now())
		for i := range purged.Limit + 10 {
			m.dropped.Add(uint64(i), time.Now(), time.Now(), time.Hour)
		}
		m.get(t, "k")
		m.get(t, "k")
		if m.asked != 2 {
			t.Errorf("asked %d times", m.asked)
		}
	})
}

// TestADropReachesWhatWasMadeOfOlderParts: an instance that had not heard of it filled the
// key from what it kept.
func TestADropReachesWhatWasMadeOfOlderParts(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		since := time.Now()
		l := &script{make: func(int64) (entry.Content, error) {
			c := textContent("of before")
			c.Since = since
			return c, nil
		}}
		time.Sleep(time.Second)
		at := time.Now()
		one.PurgeKey("k", at)
		time.Sleep(time.Second)
		mustFetch(t, two, "k", l)
		synctest.Wait()
		two.PurgeKey("k", at)
		synctest.Wait()
		if far.values["k"] != nil {
			t.Error("Redis still has it")
		}
		l.set(func(l *script) { l.make = nil })
		for _, s := range []*Space{one, two} {
			wantText(t, mustFetch(t, s, "k", l), "answer 2")
		}
	})
}
