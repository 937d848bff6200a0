package cache

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/confirm"
	"sundry/cache/entry"
	"sundry/cache/policy"
)

// TestASlowInstanceReplacesNothingNewer: the other one stops waiting for it, and has an
// answer first, which is the newer one.
func TestASlowInstanceReplacesNothingNewer(t *testing.T) {
	p := usual()
	p.FillTimeout = 4 * time.Second
	fleet(t, p, func(t *testing.T, far *fakeRemote, one, two *Space) {
		slow, quick := &script{takes: 3400 * time.Millisecond, text: "1"}, &script{takes: 10 * time.Millisecond, text: "2"}
		together(2, func(i int) {
			time.Sleep(time.Duration(i) * time.Millisecond)
			wantText(t, mustFetch(t, []*Space{one, two}[i], "story:k", []Loader{slow, quick}[i]), "2")
		})
		synctest.Wait()
		for _, s := range []*Space{one, two, newCache(t, Config{Far: far}).Space("story", p)} {
			wantText(t, mustFetch(t, s, "story:k", quick), "2")
		}
		wantCalls(t, quick, 1)
	})
}

// TestWhoLosesTakesOverTheNewer entry that Redis has kept.
func TestWhoLosesTakesOverTheNewer(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, _, two *Space) {
		held := &slowRemote{fakeRemote: far}
		one := newCache(t, Config{Far: held}).Space("story", usual())
		mustFetch(t, one, "story:k", &script{text: "1"}) // is stopped before it is written
		clear(far.leased)
		time.Sleep(5 * time.Second)
		mustFetch(t, two, "story:k", &script{text: "2"})
		synctest.Wait()
		held.catchUp()
		mustFetch(t, one, "story:k", &script{text: "3"})
		synctest.Wait()
		wantText(t, mustFetch(t, one, "story:k", &script{text: "3"}), "2")
		wantText(t, mustFetch(t, two, "story:k", &script{text: "3"}), "2")
	})
}

// TestEntriesOfAClockThatIsOffAreDatedAnew: they are as old as they are.
func TestEntriesOfAClockThatIsOffAreDatedAnew(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour, "a little ahead": time.Second / 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				far := newFakeRemote()
				s := newCache(t, Config{Far: far}).Space("story", usual())
				created := time.Now()
				c := textContent("text")
				c.Since = created.Add(off - 5*time.Second)
				far.values["story:k"], far.dates["story:k"] = made(t, s, "story:k", c, created.Add(off)).Raw, writtenAt{created: created}
				time.Sleep(10 * time.Second)
				h := mustFetch(t, s, "story:k", &script{})
				if want := 10 * time.Second; h.Tier != Far || (h.Age-want).Abs() > entry.Skew {
					t.Errorf("%+v", h)
				}
				if old := h.Meta.Created.Sub(h.Meta.Since); old != 5*time.Second {
					t.Errorf("its oldest part is %v older", old)
				}
			})
		})
	}
}

// TestWhatRedisLostIsWrittenBack by the first instance that looks and finds nothing, or
// another one would fetch it anew, and this one go on with what is older.
func TestWhatRedisLostIsWrittenBack(t *testing.T) {
	for name, texts := range map[string]int{"whole": 1, "in parts": 3} {
		t.Run(name, func(t *testing.T) {
			fleet(t, classed(policy.Keyed), func(t *testing.T, far *fakeRemote, one, two *Space) {
				l := &script{make: func(n int64) (entry.Content, error) {
					return textContent(slices.Repeat([]string{fmt.Sprint("answer ", n)}, texts)...), nil
				}}
				mustFetch(t, one, "story:k", l)
				synctest.Wait()
				clear(far.values)
				time.Sleep(confirm.Every)
				for range 2 {
					wantText(t, mustFetch(t, one, "story:k", l), "answer 1")
				}
				synctest.Wait()
				wantText(t, mustFetch(t, two, "story:k", l), "answer 1")
				wantCalls(t, l, 1)
			})
		})
	}
}
