package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// Where nobody has refreshed anything, an outage costs one look for each copy, or none
// for one that comes from a look since, and no call upstream.
func TestAnOutageThatMissedNothing(t *testing.T) {
	local := usual()
	local.Local = true
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		private := two.cache.Space("private", local)
		for range 3 { // into the hot table
			mustFetch(t, two, "story:k", l)
			mustFetch(t, two, "story:gone", l)
			mustFetch(t, private, "private:k", l)
			synctest.Wait()
		}
		delete(far.values, "story:gone") // evicted there
		mustFetch(t, one, "story:other", l)
		synctest.Wait()
		time.Sleep(time.Second)
		for range 2 {
			two.cache.MissedAnnouncements()
			looks, ready := far.gets, Answer{}
			if !private.GetHot("private:k", Want{}, time.Now(), &ready) {
				t.Error("what is not in Redis is looked up there")
			}
			for _, key := range []string{"story:k", "story:gone"} {
				for range 3 {
					if h := mustFetch(t, two, key, l); h.Tier == Upstream || h.State != policy.Fresh || h.Failed != nil {
						t.Errorf("%s: %+v", key, h)
					}
				}
				if !two.GetHot(key, Want{}, time.Now(), &ready) {
					t.Errorf("%s is not ready again", key)
				}
			}
			if n := far.gets - looks; n != 2 {
				t.Errorf("%d looks for two copies", n)
			}
		}
		looks := far.gets
		for range 3 {
			wantText(t, mustFetch(t, two, "story:other", l), "answer 4")
		}
		if n := far.gets - looks; n != 1 {
			t.Errorf("%d looks for a first fill", n)
		}
		wantCalls(t, l, 4)
	})
}

// An empty near tier has nothing to look up, and an instance without Redis nowhere.
func TestNothingIsMissed(t *testing.T) {
	c := newCache(t, Config{Far: newFakeRemote()})
	c.MissedAnnouncements()
	if c.near.missed.Load() != nil {
		t.Error("with an empty near tier")
	}
	alone := newCache(t, Config{})
	if _, err := alone.Space("story", usual()).Get(context.Background(), "story:k", Want{}, &script{}); err != nil {
		t.Fatal(err)
	}
	alone.MissedAnnouncements()
	if alone.near.missed.Load() != nil {
		t.Error("without Redis")
	}
}

func TestMissedRemembersWhatWasLookedUp(t *testing.T) {
	now := time.Now()
	d := newMissed(MinMemory, now)
	hash := func(i int) uint64 { return uint64(i) * 0x9E3779B97F4A7C15 }
	for i := range 1000 {
		d.look(hash(i))
	}
	covered := 0
	for i := range 2000 {
		covers := d.covers(hash(i), now)
		if i < 1000 && covers {
			t.Fatalf("key %d was looked up", i)
		}
		if covers {
			covered++
		}
	}
	if covered < 950 {
		t.Errorf("%d of 1000 keys that were not looked up are still to be", covered)
	}
	if d.covers(hash(5000), now.Add(entry.Skew)) {
		t.Error("an entry of later is covered")
	}
	var none *missed
	if none.look(1); none.covers(1, now) {
		t.Error("covered, though nothing was missed")
	}
}

// TestAnUnansweredLookIsNotTheLast: a Redis that is slow for a while, or from which nothing
// may be read yet, has said nothing of what was missed or announced. It is asked again, once
// a second.
func TestAnUnansweredLookIsNotTheLast(t *testing.T) {
	const seconds = 3 * looksForNewer
	for name, deaf := range map[string]bool{"missed": true, "announced": false} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{}
				far.deaf = deaf
				refreshed(t, one, two, l)
				if deaf {
					two.cache.MissedAnnouncements()
				}
				far.silent = true
				looks := far.gets
				for range seconds {
					for range 10 {
						wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
					}
					time.Sleep(lookAgain)
				}
				if n := far.gets - looks; n != seconds {
					t.Errorf("%d looks in %d s", n, seconds)
				}
				far.silent = false
				wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
				wantCalls(t, l, 2)
			})
		})
	}
}

// TestWhatRedisHasLostIsWrittenAgain: nothing is there, or an older entry, as when a write of an entry was given up. Its instance serves
// the entry, and the others serve it next.
func TestWhatRedisHasLostIsWrittenAgain(t *testing.T) {
	for name, lose := range map[string]func(*Space, *fakeRemote, []byte, writtenAt){
		"it has nothing": func(s *Space, far *fakeRemote, _ []byte, _ writtenAt) {
			delete(far.values, "story:k")
			delete(far.dates, "story:k")
			s.cache.Lost("", time.Time{})
		},
		"it has an older one": func(s *Space, far *fakeRemote, value []byte, at writtenAt) {
			created := far.dates["story:k"].created
			far.values["story:k"], far.dates["story:k"] = value, at
			s.cache.Lost("story:k", created)
		},
	} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				mustFetch(t, two, "story:k", l)
				first, at := far.values["story:k"], far.dates["story:k"]
				far.deaf = true
				time.Sleep(20 * time.Second)
				one.cache.SetPurges(map[string]policy.Purge{"story": {Soft: time.Now()}})
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				far.deaf = false
				lose(one, far, first, at)
				wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
				wantText(t, mustFetch(t, one, "story:k", l), "answer 2")
				synctest.Wait()
				wantText(t, mustFetch(t, two, "story:k", l), "answer 2")
				wantCalls(t, l, 2)
			})
		})
	}
}
