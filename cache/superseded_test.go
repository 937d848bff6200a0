package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// refreshed makes one instance refresh a key of which the other has a copy that is
// fresh by its own age.
func refreshed(t *testing.T, one, two *Space, l *script) {
	t.Helper()
	for range 3 { // once into each tier, and into the hot table
		mustFetch(t, one, "story:k", l)
		synctest.Wait()
		mustFetch(t, two, "story:k", l)
		synctest.Wait()
	}
	time.Sleep(20 * time.Second)
	one.cache.SetPurges(map[string]policy.Purge{"story": {Soft: time.Now()}})
	mustFetch(t, one, "story:k", l)
	synctest.Wait()
	wantCalls(t, l, 2)
}

// They are told, or have heard nothing for a while: then they look at the next request for
// each copy, once for each.
func TestOthersServeWhatOneHasRefreshed(t *testing.T) {
	for name, row := range map[string]struct {
		class policy.Class
		texts int
		lose  func(m *memory) // from the near tier of the other
	}{
		"in the hot table":       {class: policy.Shared, texts: 1},
		"in the hot table alone": {class: policy.Shared, texts: 1, lose: func(m *memory) { _ = m.class[policy.Shared].Delete("story:k") }},
		"in bigcache":            {class: policy.Keyed, texts: 1, lose: func(m *memory) { m.hot.drop("story:k") }},
		"in parts":               {class: policy.Keyed, texts: 3, lose: func(m *memory) { m.hot.drop("story:k") }},
		"a pool that is joined":  {class: policy.Shared, texts: 3},
	} {
		for told, deaf := range map[string]bool{"told": false, "after an outage": true} {
			t.Run(name+", "+told, func(t *testing.T) {
				fleet(t, classed(row.class), func(t *testing.T, far *fakeRemote, one, two *Space) {
					l := &script{make: func(n int64) (entry.Content, error) {
						return textContent(slices.Repeat([]string{fmt.Sprint("answer ", n)}, row.texts)...), nil
					}}
					if far.deaf = deaf; row.lose != nil {
						after(19*time.Second, func() { row.lose(two.cache.near) })
					}
					refreshed(t, one, two, l)
					if deaf {
						wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
						two.cache.MissedAnnouncements()
					}
					wantOneLook(t, far, two, l)
				})
			})
		}
	}
}

// wantOneLook: the older copy is not served; the first request finds the newer entry in
// Redis, and the next ones have it.
func wantOneLook(t *testing.T, far *fakeRemote, two *Space, l *script) {
	t.Helper()
	var answer Answer
	if two.GetHot("story:k", Want{}, time.Now(), &answer) {
		t.Error("the older copy is ready")
	}
	looks := far.gets
	for i, tier := range []Tier{Far, Near, Near} {
		h := mustFetch(t, two, "story:k", l)
		if wantText(t, h, "answer 2"); h.Tier != tier || h.State != policy.Fresh || h.Failed != nil {
			t.Errorf("request %d: %+v", i, h)
		}
	}
	if far.gets != looks+1 {
		t.Errorf("%d looks", far.gets-looks)
	}
	wantCalls(t, l, 2)
}

// Callers that come together look together.
func TestManyCallersOfASupersededCopyLookOnce(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		refreshed(t, one, two, l)
		looks := far.gets
		together(100, func(int) { wantText(t, mustFetch(t, two, "story:k", l), "answer 2") })
		if n := far.gets - looks; n != 1 {
			t.Errorf("%d looks", n)
		}
	})
}

// A look that Redis did not answer is not the last one: the next is due in a second, or
// when an outage is over.
func TestNewerEntryThatIsFoundLater(t *testing.T) {
	for name, due := range map[string]func(two *Space){
		"in a second":            func(*Space) { time.Sleep(lookAgain) },
		"when an outage is over": func(two *Space) { two.cache.MissedAnnouncements() },
	} {
		t.Run(name, func(t *testing.T) { newerEntryIsFound(t, due) })
	}
}

// TestTwoFillsOfTheSameTime: the fleet serves the one that Redis has, though neither is older.
func TestTwoFillsOfTheSameTime(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "story:k", l)
		synctest.Wait()
		packed := far.values["story:k"]
		clear(far.values) // not yet there when the other looks
		l.make = func(int64) (entry.Content, error) {
			far.values["story:k"] = packed
			return textContent("answer 2"), nil
		}
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		synctest.Wait()
		for range 3 {
			for _, s := range []*Space{one, two} {
				wantText(t, mustFetch(t, s, "story:k", l), "answer 1")
			}
		}
		wantCalls(t, l, 2)
	})
}

func newerEntryIsFound(t *testing.T, due func(two *Space)) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		refreshed(t, one, two, l)
		packed := far.values["story:k"]
		clear(far.values)
		looks := far.gets
		for range 5 {
			wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
		}
		if far.gets != looks+1 {
			t.Errorf("%d looks at once", far.gets-looks)
		}
		far.values["story:k"] = packed
		due(two)
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		wantCalls(t, l, 2)
	})
}

// Nobody whose copy is fresh by its own age waits for a Redis that hangs: the look goes on
// behind, and what it finds is served from then on.
func TestASlowLookForTheNewerEntry(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		refreshed(t, one, two, l)
		far.slow = 100 * time.Millisecond
		looks := far.gets
		together(20, func(int) {
			start := time.Now()
			h := mustFetch(t, two, "story:k", l)
			if wantText(t, h, "answer 1"); h.State != policy.Fresh || h.Failed != nil || time.Since(start) > newerPatience {
				t.Errorf("%+v after %v", h, time.Since(start))
			}
		})
		time.Sleep(far.slow)
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		if n := far.gets - looks; n != 1 {
			t.Errorf("%d looks", n)
		}
		wantCalls(t, l, 2)
	})
}

// An announcement whose entry is not to be had costs a few looks: the copy that is fresh
// by its own age is served on, and no upstream is called.
func TestAnnouncementWithoutAnEntry(t *testing.T) {
	for name, row := range map[string]struct {
		age   time.Duration
		state policy.State
	}{"fresh": {20 * time.Second, policy.Fresh}, "in grace": {2 * time.Minute, policy.Grace}} {
		for what, change := range map[string]func(*fakeRemote, *memory){
			"none in Redis":    func(far *fakeRemote, _ *memory) { clear(far.values) },
			"the same":         func(*fakeRemote, *memory) {},
			"one that is torn": func(far *fakeRemote, _ *memory) { far.values["story:k"] = far.values["story:k"][:9] },
			"none, and only the hot table has the copy": func(far *fakeRemote, near *memory) {
				clear(far.values)
				_ = near.class[policy.Shared].Delete("story:k")
			},
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
					l := &script{}
					mustFetch(t, one, "story:k", l)
					synctest.Wait()
					time.Sleep(row.age)
					change(far, one.cache.near)
					one.cache.replaced("story:k", time.Now())
					looks := far.gets
					h := mustFetch(t, one, "story:k", l)
					if wantText(t, h, "answer 1"); h.State != row.state || h.Failed != nil {
						t.Errorf("%+v", h)
					}
					if row.state != policy.Fresh {
						return // its refresh is another matter
					}
					if h := mustFetch(t, one, "story:k", l); h.Tier != Near || far.gets != looks+1 {
						t.Errorf("after %d looks: %+v", far.gets-looks, h)
					}
					for range 3 * looksForNewer {
						time.Sleep(lookAgain)
						wantText(t, mustFetch(t, one, "story:k", l), "answer 1")
					}
					if n := far.gets - looks; n != looksForNewer {
						t.Errorf("%d looks", n)
					}
					var answer Answer
					if !one.GetHot("story:k", Want{}, time.Now(), &answer) {
						t.Error("the copy is not in the hot table again")
					}
					wantCalls(t, l, 1)
				})
			})
		}
	}
}

// What comes from strangers, or from clocks that are wrong, is no hint.
func TestAnnouncementsThatAreIgnored(t *testing.T) {
	local := usual()
	local.Local = true
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
		l := &script{}
		private := one.cache.Space("private", local)
		mustFetch(t, one, "story:k", l)
		mustFetch(t, private, "private:k", l)
		synctest.Wait()
		now := time.Now()
		for key, created := range map[string]time.Time{
			"story:k": now, "story:other": now.Add(time.Second), "private:k": now.Add(time.Second), "tale:k": now.Add(time.Second), "": now, ":": now,
		} {
			one.cache.replaced(key, created)
		}
		for _, created := range []time.Time{now.Add(-time.Hour), now.Add(entry.Skew + time.Second), time.UnixMilli(1 << 62), {}} {
			one.cache.replaced("story:k", created)
		}
		looks := far.gets
		for s, key := range map[*Space]string{one: "story:k", private: "private:k"} {
			if h := mustFetch(t, s, key, l); h.Tier != Near {
				t.Errorf("%s: %+v", key, h)
			}
		}
		if far.gets != looks {
			t.Errorf("%d looks", far.gets-looks)
		}
	})
}

// besides notes what it is told.
type besides struct {
	replaced []string
	missed   int
	lost     []string
}

func (b *besides) Replaced(key string, _ time.Time) { b.replaced = append(b.replaced, key) }
func (b *besides) Missed()                          { b.missed++ }
func (b *besides) Lost(key string, _ time.Time)     { b.lost = append(b.lost, key) }

// Who keeps values of its own in Redis is told what of them was replaced, and when that may have been missed.
func TestAnnouncementsOfWhatIsBeside(t *testing.T) {
	beside := &besides{}
	c := newCache(t, Config{Far: newFakeRemote(), Beside: beside})
	c.Space("story", usual())
	c.replaced("web:/a", time.Now())
	c.replaced("web:/ahead", time.Now().Add(time.Hour))
	c.replaced("story:k", time.Now())
	if !slices.Equal(beside.replaced, []string{"web:/a"}) || beside.missed != 0 {
		t.Errorf("%+v", beside)
	}
	if c.MissedAnnouncements(); beside.missed != 1 {
		t.Errorf("missed %d times", beside.missed)
	}
}

// Nobody profits from what is not announced.
func TestWhatIsAnnounced(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		announced := func(what string, n int) {
			t.Helper()
			synctest.Wait()
			if far.announced != n {
				t.Errorf("%s: %d announcements, want %d", what, far.announced, n)
			}
			far.announced = 0
		}
		mustFetch(t, one, "story:k", l)
		mustFetch(t, one, "story:other", l)
		announced("first fills", 0)
		_, _ = one.Get(t.Context(), "story:failing", Want{}, &script{err: errDown})
		_, _ = one.Get(t.Context(), "story:none", Want{}, &script{make: func(int64) (entry.Content, error) { return negativeContent(), nil }})
		announced("failures, and negative answers", 0)
		time.Sleep(2 * time.Minute)
		mustFetch(t, one, "story:k", l)
		announced("a refresh", 1)
		time.Sleep(2 * time.Minute)
		mustFetch(t, newCache(t, Config{Far: far}).Space("story", usual()), "story:k", l)
		announced("the refresh of an instance that has just started", 1)
		time.Sleep(2 * time.Minute)
		mustFetch(t, one, "story:k", &script{make: func(int64) (entry.Content, error) {
			one.cache.near.remove(policy.Shared, "story:k")
			return textContent("refreshed"), nil
		}})
		announced("a refresh whose copy was evicted meanwhile", 1)
		slow := &script{takes: time.Second}
		together(2, func(i int) { mustFetch(t, []*Space{one, two}[i], "story:wanted", slow) })
		announced("a first fill that another instance waits for", 0)
	})
}

// Whoever hears nothing serves its copy by its own age, and then finds the newer one.
func TestLostAnnouncement(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		far.deaf = true
		l := &script{}
		refreshed(t, one, two, l)
		wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
		time.Sleep(40 * time.Second)
		mustFetch(t, two, "story:k", l) // in grace, which looks into Redis
		synctest.Wait()
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		wantCalls(t, l, 2)
	})
}

// A pause after a failure does not hide what another instance has fetched; nor does an
// announcement end the pause.
func TestPausedKeyThatAnotherInstanceHasFilled(t *testing.T) {
	p := usual()
	p.Pause, p.PauseMax = 30*time.Second, 30*time.Second
	for name, found := range map[string]bool{"found": true, "not found": false} {
		t.Run(name, func(t *testing.T) {
			fleet(t, p, func(t *testing.T, far *fakeRemote, one, two *Space) {
				l, down := &script{}, &script{err: errDown}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				mustFetch(t, two, "story:k", l)
				time.Sleep(20 * time.Minute) // stale
				mustFetch(t, two, "story:k", down)
				synctest.Wait()
				clear(far.failures) // or one would be paused as well
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				want := "answer 2"
				if !found {
					clear(far.values)
					want = "answer 1"
				}
				for range 3 {
					wantText(t, mustFetch(t, two, "story:k", down), want)
				}
				wantCalls(t, down, 1)
				wantCalls(t, l, 2)
			})
		})
	}
}

// A request that is shed gets the superseded copy as the hit that it would have been.
func TestSupersededCopyIsAFallback(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{}
		refreshed(t, one, two, l)
		var found Answer
		ready := two.GetNear(t.Context(), "story:k", Want{}, l, &found)
		if ready {
			t.Fatal("it is ready")
		}
		h, ok := two.Fallback("story:k", Want{}, &found, errors.New("shed"))
		if wantText(t, h, "answer 1"); !ok || h.State != policy.Fresh || h.Failed != nil {
			t.Errorf("%v %+v", ok, h)
		}
	})
}

func TestWarmLooksForTheNewerEntry(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{}
		refreshed(t, one, two, l)
		if _, err := two.Warm(context.Background(), "story:k", l); err != nil {
			t.Fatal(err)
		}
		var answer Answer
		if !two.GetHot("story:k", Want{}, time.Now(), &answer) {
			t.Error("not ready")
		}
		wantText(t, answer, "answer 2")
		wantCalls(t, l, 2)
	})
}

// Whatever is read and written at the same time, an older copy never stays in the hot
// table, where no hint is looked for.
func TestSupersededCopyNeverStaysHot(t *testing.T) {
	s := newCache(t, Config{Far: newFakeRemote()}).Space("story", usual())
	near := s.cache.near
	begin := time.Now().Truncate(time.Millisecond)
	var entries [200]*entry.Entry
	for i := range entries {
		entries[i] = made(t, s, "", textContent("text"), begin.Add(time.Duration(i)*time.Millisecond))
	}
	for i := 1; i < len(entries); i++ {
		near.put(policy.Shared, "story:k", entries[i-1])
		newest := entries[i].Meta.Created
		var wg sync.WaitGroup
		wg.Go(func() { s.cache.replaced("story:k", newest) })
		wg.Go(func() { near.put(policy.Shared, "story:k", entries[i-1]) })
		wg.Go(func() { _, _, _ = near.get(policy.Shared, "story:k", Want{}) })
		wg.Wait()
		if r := near.hot.get("story:k"); r != nil && r.Meta.Created.Before(newest) {
			t.Fatalf("entry %d is hot, and superseded", i-1)
		}
		if near.hint("story:k", entries[i-1].Meta.Created) == nil {
			t.Fatal("it has no hint")
		}
	}
}

func TestMarks(t *testing.T) {
	s := newCache(t, Config{Far: newFakeRemote()}).Space("story", usual())
	near, now := s.cache.near, time.Now().Truncate(time.Millisecond)
	if near.supersede(policy.Shared, "story:k", now.Add(time.Second)) {
		t.Error("a hint without a copy")
	}
	near.put(policy.Shared, "story:k", made(t, s, "", textContent("text"), now))
	for _, later := range []time.Duration{2 * time.Second, time.Second} {
		if !near.supersede(policy.Shared, "story:k", now.Add(later)) {
			t.Error("no hint")
		}
	}
	k := near.hint("story:k", now)
	if k == nil || !k.created.Equal(now.Add(2*time.Second)) {
		t.Fatalf("%+v: an earlier announcement that came later has replaced it", k)
	}
	if near.hint("story:k", now.Add(2*time.Second)) != nil {
		t.Error("the newest has a hint")
	}
	near.supersede(policy.Shared, "story:k", now.Add(3*time.Second))
	for range looksForNewer {
		near.notFound(k, true, now)
	}
	later := near.hint("story:k", now)
	if later == nil {
		t.Fatal("the end of a hint has ended a later one")
	}
	for i := range looksForNewer {
		at := now.Add(time.Duration(i) * lookAgain)
		if near.dueHint("story:k", now, at) != later || near.dueHint("story:k", now, at.Add(-1)) != nil && i > 0 {
			t.Errorf("look %d is not due after %v, or earlier", i, at.Sub(now))
		}
		near.notFound(later, true, at)
	}
	if near.hint("story:k", now) != nil {
		t.Error("it has no end")
	}
	near.hintOf("story:k").Store(&hint{key: "another key", created: now.Add(time.Hour)})
	if near.hint("story:k", now) != nil {
		t.Error("the hint of another key counts")
	}
}

// TestHintsOfKeysWithOnePlace: the second key takes its other one, and the first keeps its own.
func TestHintsOfKeysWithOnePlace(t *testing.T) {
	near, now := newCache(t, Config{}).near, time.Now()
	places := uint64(len(near.superseded.hints))
	one := "story:0"
	other := one
	for i := 1; near.hot.hash(other)%places != near.hot.hash(one)%places || other == one; i++ {
		other = fmt.Sprint("story:", i)
	}
	for _, key := range []string{one, other, one} {
		near.hintOf(key).Store(&hint{key: key, created: now})
		near.superseded.used.Store(true)
	}
	for _, key := range []string{one, other} {
		if near.hint(key, now.Add(-time.Second)) == nil {
			t.Errorf("%s has lost its hint", key)
		}
	}
}
