package cache

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/confirm"
	"sundry/cache/entry"
	"sundry/cache/policy"
)

// newerElsewhere makes one instance load a newer entry of a key of which the other has a copy that is fresh by its own age, and was last
// confirmed a while ago.
func newerElsewhere(t *testing.T, one, two *Space, l *script) {
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

// TestACopyThatIsServedIsConfirmed: the first request gets it, the next ones what is newer in Redis.
func TestACopyThatIsServedIsConfirmed(t *testing.T) {
	for name, row := range map[string]struct {
		class policy.Class
		texts int
		lose  func(t *testing.T, s *Space) // from the near tier of the other
	}{
		"in the hot table":       {class: policy.Shared, texts: 1},
		"in the hot table alone": {class: policy.Shared, texts: 1, lose: func(_ *testing.T, s *Space) { _ = s.cache.near.Queue(policy.Shared).Delete("story:k") }},
		"in bigcache":            {class: policy.Keyed, texts: 1, lose: func(t *testing.T, s *Space) { leavesHot(t, s, "story:k") }},
		"in parts":               {class: policy.Keyed, texts: 3, lose: func(t *testing.T, s *Space) { leavesHot(t, s, "story:k") }},
		"a pool that is joined":  {class: policy.Shared, texts: 3},
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, classed(row.class), func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{make: func(n int64) (entry.Content, error) {
					return textContent(slices.Repeat([]string{fmt.Sprint("answer ", n)}, row.texts)...), nil
				}}
				newerElsewhere(t, one, two, l)
				if row.lose != nil {
					row.lose(t, two)
				}
				looks := far.gets
				for i, want := range []string{"answer 1", "answer 2", "answer 2"} {
					h := mustFetch(t, two, "story:k", l)
					if wantText(t, h, want); h.Tier != Near || h.State != policy.Fresh || h.Failed != nil {
						t.Errorf("request %d: %+v", i, h)
					}
					synctest.Wait()
				}
				if far.gets != looks+1 {
					t.Errorf("%d looks", far.gets-looks)
				}
				wantCalls(t, l, 2)
			})
		})
	}
}

// TestConfirmationsAreSeldom: one for each key in five seconds, however many requests come, and a hit waits for none. Only the first one
// reads the value, which nobody changes.
func TestConfirmationsAreSeldom(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
		l := &script{}
		mustFetch(t, one, "story:k", l)
		synctest.Wait()
		far.slow = 100 * time.Millisecond
		looks, versions, began := far.gets, far.versions, time.Now()
		for time.Since(began) < 20*time.Second {
			asked := time.Now()
			together(10, func(int) { wantText(t, mustFetch(t, one, "story:k", l), "answer 1") })
			if waited := time.Since(asked); waited > 0 {
				t.Fatalf("waited %v", waited)
			}
			time.Sleep(50 * time.Millisecond)
		}
		if n, read := far.versions-versions, far.gets-looks; n != 3 || read != 1 {
			t.Errorf("%d confirmations and %d looks in 20 s, want 3, after 5, 10 and 15, and 1", n, read)
		}
		wantCalls(t, l, 1)
	})
}

// TestAChangeBehindManyConfirmationsIsFound by the next one, and what Redis has lost is written again by the next one.
func TestAChangeBehindManyConfirmationsIsFound(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		serve := func(want string) {
			t.Helper()
			wantText(t, mustFetch(t, two, "story:k", l), want)
			synctest.Wait()
		}
		serve("answer 1")
		often := func(want string) {
			t.Helper()
			for range 3 {
				time.Sleep(confirm.Every)
				serve(want)
			}
		}
		often("answer 1")
		one.cache.SetPurges(map[string]policy.Purge{"story": {Soft: time.Now()}})
		mustFetch(t, one, "story:k", l)
		synctest.Wait()
		time.Sleep(confirm.Every)
		serve("answer 1")
		serve("answer 2")
		often("answer 2")
		clear(far.values)
		time.Sleep(confirm.Every)
		if serve("answer 2"); len(far.values) == 0 {
			t.Error("it is not written again")
		}
		wantCalls(t, l, 2)
	})
}

// TestTheHotTableLeavesConfirmationToOthers, and has the copy again then.
func TestTheHotTableLeavesConfirmationToOthers(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, _ *Space) {
		l := &script{}
		for range 2 {
			mustFetch(t, one, "story:k", l)
		}
		var answer Answer
		hot := func() bool { return one.GetHot("story:k", Want{}, time.Now(), &answer) }
		if !hot() {
			t.Fatal("it is not hot")
		}
		if time.Sleep(confirm.Every); hot() {
			t.Error("nobody confirms it")
		}
		mustFetch(t, one, "story:k", l)
		if !hot() {
			t.Error("it is not hot while it is confirmed")
		}
	})
}

// TestWhatRedisDoesNotAnswer is asked again in a second; a copy is served without a call of its source.
func TestWhatRedisDoesNotAnswer(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		newerElsewhere(t, one, two, l)
		far.silent = true
		versions := far.versions
		for range 4 {
			wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
			synctest.Wait()
			time.Sleep(confirm.Again / 2)
		}
		if n := far.versions - versions; n != 2 {
			t.Errorf("%d attempts in two seconds", n)
		}
		far.silent = false
		mustFetch(t, two, "story:k", l)
		synctest.Wait()
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		wantCalls(t, l, 2)
	})
}

// TestACopyIsServedOnWithoutAnEntryInRedis: it is fresh by its own age, and no source is called.
func TestACopyIsServedOnWithoutAnEntryInRedis(t *testing.T) {
	for what, change := range map[string]func(*fakeRemote){
		"none":             func(far *fakeRemote) { clear(far.values) },
		"the same":         func(*fakeRemote) {},
		"one that is torn": func(far *fakeRemote) { far.values["story:k"] = far.values["story:k"][:9] },
	} {
		t.Run(what, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
				l := &script{}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				change(far)
				for range 4 {
					time.Sleep(confirm.Every)
					h := mustFetch(t, one, "story:k", l)
					if wantText(t, h, "answer 1"); h.State != policy.Fresh || h.Failed != nil {
						t.Errorf("%+v", h)
					}
					synctest.Wait()
				}
				wantCalls(t, l, 1)
			})
		})
	}
}

// TestAPausedKeyThatAnotherInstanceHasFilled: a pause after a failure does not hide it.
func TestAPausedKeyThatAnotherInstanceHasFilled(t *testing.T) {
	p := usual()
	p.Pause, p.PauseMax = 30*time.Second, 30*time.Second
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
		time.Sleep(p.PauseMax)
		mustFetch(t, two, "story:k", down)
		synctest.Wait()
		wantText(t, mustFetch(t, two, "story:k", down), "answer 2")
		wantCalls(t, down, 1)
		wantCalls(t, l, 2)
	})
}

// notFresh are the ways to serve a copy that is not fresh while its source gives no new one.
var notFresh = map[string]struct {
	age    time.Duration // of the copy
	eager  float64
	loader func() Loader
	paused bool // by an earlier failure
}{
	"a refresh fails, in grace":       {age: 2 * time.Minute, loader: failing},
	"a refresh fails, stale":          {age: 20 * time.Minute, loader: failing},
	"a refresh ahead of time fails":   {age: 59 * time.Second, eager: 0.1, loader: failing},
	"paused, in grace":                {age: 2 * time.Minute, loader: failing, paused: true},
	"paused, stale":                   {age: 20 * time.Minute, loader: failing, paused: true},
	"paused, ahead of time":           {age: 59 * time.Second, eager: 0.1, loader: failing, paused: true},
	"a refresh is withheld, in grace": {age: 2 * time.Minute, loader: func() Loader { return &metered{} }},
	"a refresh is withheld, stale":    {age: 20 * time.Minute, loader: func() Loader { return &metered{} }},
}

func failing() Loader { return &script{err: errDown} }

// TestWhatRedisLacksIsWrittenBackWhileNothingNewIsLoaded: another instance may have an older copy, and a longer TTL makes both fresh again.
func TestWhatRedisLacksIsWrittenBackWhileNothingNewIsLoaded(t *testing.T) {
	for name, row := range notFresh {
		for redis, change := range map[string]func(*testing.T, *fakeRemote, *Space){
			"nothing": func(_ *testing.T, far *fakeRemote, _ *Space) { clear(far.values) },
			"an older one": func(t *testing.T, far *fakeRemote, s *Space) {
				created := far.createdAt("story:k").Add(-time.Second)
				far.values["story:k"], far.dates["story:k"] = made(t, s, "story:k", textContent("older"), created).Raw, writtenAt{created: created}
			},
		} {
			t.Run(name+", "+redis+" in Redis", func(t *testing.T) {
				p := usual()
				p.Eager, p.Pause, p.PauseMax = row.eager, 30*time.Second, 30*time.Second
				fleet(t, p, func(t *testing.T, far *fakeRemote, one, two *Space) {
					mustFetch(t, one, "story:k", &script{})
					synctest.Wait()
					time.Sleep(row.age - confirm.Every)
					if row.paused {
						one.cache.failures.add("story:k", errDown, true, &p, time.Now())
					}
					time.Sleep(confirm.Every)
					change(t, far, one)
					wantText(t, mustFetch(t, one, "story:k", row.loader()), "answer 1")
					synctest.Wait()
					wantText(t, mustFetch(t, two, "story:k", failing()), "answer 1")
				})
			})
		}
	}
}

// TestANewerCopyIsFoundWhileNothingNewIsLoaded: another instance has loaded it, and the next request gets it.
func TestANewerCopyIsFoundWhileNothingNewIsLoaded(t *testing.T) {
	for name, row := range notFresh {
		t.Run(name, func(t *testing.T) {
			p := usual()
			p.Eager, p.Pause, p.PauseMax = row.eager, 30*time.Second, 30*time.Second
			fleet(t, p, func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				mustFetch(t, two, "story:k", l)
				time.Sleep(row.age)
				one.cache.SetPurges(map[string]policy.Purge{"story": {Soft: time.Now()}})
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				if row.paused {
					two.cache.failures.add("story:k", errDown, true, &p, time.Now())
				}
				for range 2 {
					mustFetch(t, two, "story:k", row.loader())
					synctest.Wait()
				}
				wantText(t, mustFetch(t, two, "story:k", row.loader()), "answer 2")
				wantCalls(t, l, 2)
			})
		})
	}
}

// TestWhoWaitsForALoadDoesNotGetAnOlderCopy, which the instance that failed to load has written back to a Redis that was emptied.
func TestWhoWaitsForALoadDoesNotGetAnOlderCopy(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "story:k", l)
		synctest.Wait()
		clear(far.values)
		time.Sleep(time.Second)
		mustFetch(t, two, "story:k", l)
		synctest.Wait()
		time.Sleep(30 * time.Minute)
		clear(far.values)
		together(2, func(i int) {
			time.Sleep(time.Duration(i) * 10 * time.Millisecond)
			down := &script{err: errDown, takes: 100 * time.Millisecond}
			h := mustFetch(t, []*Space{one, two}[i], "story:k", down)
			if wantText(t, h, fmt.Sprint("answer ", i+1)); h.State != policy.Stale || h.Failed == nil {
				t.Errorf("instance %d: %+v", i, h)
			}
		})
		synctest.Wait()
		wantText(t, mustFetch(t, newCache(t, Config{Far: far}).Space("story", usual()), "story:k", &script{err: errDown}), "answer 2")
	})
}

// TestAPausedSourceIsNotCalledByConfirmations: what is not fresh is looked up again and again, and its source is left alone.
func TestAPausedSourceIsNotCalledByConfirmations(t *testing.T) {
	for name, change := range map[string]func(*fakeRemote){
		"Redis has the same":      func(*fakeRemote) {},
		"Redis has lost it":       func(far *fakeRemote) { clear(far.values) },
		"Redis does not answer":   func(far *fakeRemote) { far.silent = true },
		"Redis takes no more":     func(far *fakeRemote) { clear(far.values); far.full = true },
		"Redis forgets the pause": func(far *fakeRemote) { clear(far.failures) },
	} {
		t.Run(name, func(t *testing.T) {
			p := usual()
			p.Pause, p.PauseMax = time.Minute, time.Minute
			fleet(t, p, func(t *testing.T, far *fakeRemote, one, _ *Space) {
				mustFetch(t, one, "story:k", &script{})
				synctest.Wait()
				time.Sleep(2 * time.Minute)
				down := &script{err: errDown}
				mustFetch(t, one, "story:k", down)
				synctest.Wait()
				looks := far.gets
				change(far)
				for range 40 {
					mustFetch(t, one, "story:k", down)
					synctest.Wait()
					time.Sleep(time.Second)
				}
				wantCalls(t, down, 1)
				if n := far.gets - looks; n > 40/int(confirm.Every/time.Second)+1 {
					t.Errorf("%d looks in 40 seconds", n)
				}
			})
		})
	}
}

// TestAKeyOfThisInstanceAloneIsNotConfirmed: nobody else has it.
func TestAKeyOfThisInstanceAloneIsNotConfirmed(t *testing.T) {
	local := usual()
	local.Local = true
	fleet(t, local, func(t *testing.T, far *fakeRemote, one, _ *Space) {
		for range 3 {
			mustFetch(t, one, "story:k", &script{})
			synctest.Wait()
			time.Sleep(confirm.Every)
		}
		if far.gets > 0 {
			t.Errorf("%d looks", far.gets)
		}
	})
}

// TestFewConfirmationsRunAtOnce: they take no place of a fill, and there is another try in a second.
func TestFewConfirmationsRunAtOnce(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		newerElsewhere(t, one, two, l)
		looks := far.gets
		for range confirm.Most {
			two.cache.confirmed.Begin()
		}
		mustFetch(t, two, "story:k", l)
		synctest.Wait()
		if far.gets != looks {
			t.Errorf("%d looks", far.gets-looks)
		}
		for range confirm.Most {
			two.cache.confirmed.End()
		}
		time.Sleep(confirm.Again)
		mustFetch(t, two, "story:k", l)
		synctest.Wait()
		wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
		if n := two.cache.flights.running(); n != 0 {
			t.Errorf("%d fills", n)
		}
	})
}

// TestConfirmationsAreCounted by what they found, and not as lookups of requests.
func TestConfirmationsAreCounted(t *testing.T) {
	for want, change := range map[string]func(*fakeRemote){
		"newest":  func(*fakeRemote) {},
		"missing": func(far *fakeRemote) { clear(far.values) },
		"unknown": func(far *fakeRemote) { far.silent = true },
	} {
		t.Run(want, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
				l := &script{}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				change(far)
				time.Sleep(confirm.Every)
				before := testutil.ToFloat64(one.metrics.farHit) + testutil.ToFloat64(one.metrics.farMiss)
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				if n := testutil.ToFloat64(one.cache.metrics.confirmations.WithLabelValues(want)); n != 1 {
					t.Errorf("%v", n)
				}
				if now := testutil.ToFloat64(one.metrics.farHit) + testutil.ToFloat64(one.metrics.farMiss); now != before {
					t.Errorf("%v lookups more", now-before)
				}
			})
		})
	}
}
