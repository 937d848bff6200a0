package cache

import (
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// fromTomorrow is an entry that was made by a clock that was this much ahead.
func fromTomorrow(t *testing.T, ahead time.Duration) *entry.Entry {
	t.Helper()
	created := time.Now().Add(ahead)
	e, err := entry.Parse(rawOf(t, textContent("of the future"), &entry.Meta{Created: created, Modified: created}))
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestEntriesOfTheFuture: in whichever tier one is, it is asked for anew, serves where that
// fails, and is gone after a purge or a drop, also when the clock has reached its date.
func TestEntriesOfTheFuture(t *testing.T) {
	const key, ahead = "story:k", 50 * time.Second
	tiers := map[string]func(t *testing.T) *Space{
		"near": func(t *testing.T) *Space {
			s := newCache(t, Config{}).Space("story", usual())
			s.cache.near.Put(policy.Keyed, key, fromTomorrow(t, ahead))
			return s
		},
		"hot": func(t *testing.T) *Space {
			s := newCache(t, Config{}).Space("story", usual())
			s.cache.near.Put(policy.Shared, key, fromTomorrow(t, ahead))
			if s.cache.near.Hot(key) == nil {
				t.Fatal("it is not in the hot table")
			}
			return s
		},
		"redis": func(t *testing.T) *Space {
			far := newFakeRemote()
			far.values[key] = fromTomorrow(t, ahead).Raw
			return newCache(t, Config{Far: far}).Space("story", usual())
		},
		"snapshot": func(t *testing.T) *Space {
			k := keepIn(t, snapshotFile(t), Config{})
			writeOne(t, k, key, fromTomorrow(t, ahead).Raw)
			s := k.Space("story", usual())
			k.Read(t.Context())
			return s
		},
	}
	for name, tier := range tiers {
		run := func(what string, then func(t *testing.T, s *Space, l *script)) {
			t.Run(name+", "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := tier(t)
					if name == "near" {
						s.policy.Class = policy.Keyed
					}
					then(t, s, &script{})
				})
			})
		}
		run("asked for anew", func(t *testing.T, s *Space, l *script) {
			wantText(t, mustFetch(t, s, key, l), "answer 1")
			if h := mustFetch(t, s, key, l); h.Tier != Near || h.State != policy.Fresh {
				t.Errorf("%+v", h)
			}
		})
		run("in the place of a failure", func(t *testing.T, s *Space, l *script) {
			l.err = errDown
			if h := mustFetch(t, s, key, l); h.Failed == nil || h.State != policy.Stale || h.Age != 0 {
				t.Errorf("%+v", h)
			}
			wantCalls(t, l, 1)
		})
		purges := map[string]func(*Space){
			"purged":  func(s *Space) { s.cache.SetPurges(map[string]policy.Purge{"story": {Hard: time.Now()}}) },
			"dropped": func(s *Space) { s.PurgeKey(key, time.Now()) },
		}
		for what, purge := range purges {
			run(what, func(t *testing.T, s *Space, l *script) {
				l.err = errDown
				purge(s)
				synctest.Wait()
				if h, err := s.Get(t.Context(), key, Want{}, l); err == nil {
					t.Errorf("%+v", h)
				}
			})
		}
		if name != "redis" { // what is there has the date of its clock
			for what, purge := range purges {
				run(what+", and the clock reaches its date", func(t *testing.T, s *Space, l *script) {
					purge(s)
					time.Sleep(ahead)
					wantText(t, mustFetch(t, s, key, l), "answer 1")
				})
			}
		}
	}
}
