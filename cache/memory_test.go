package cache

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

func TestFloodOfKeysLeavesSharedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Memory: near.MinMemory})
		daily := c.Space("60s", usual())
		l := &script{text: "news"}
		mustFetch(t, daily, "60s", l)
		p := classed(policy.Keyed)
		flood := c.Space("ip", p)
		for i := range 20_000 {
			mustFetch(t, flood, fmt.Sprint("ip", i), &script{text: strings.Repeat("x", 500)})
		}
		if c.near.Evicted(policy.Keyed) == 0 {
			t.Fatal("the flood was too small to evict anything")
		}
		if h := mustFetch(t, daily, "60s", l); h.Tier != Near {
			t.Error("the daily entry was evicted")
		}
		wantCalls(t, l, 1)
	})
}

func pool(n int) entry.Content {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = fmt.Sprintf("quote number %d", i)
	}
	return textContent(texts...)
}

func TestPoolPicksEvenly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, draws = 20, 20_000
		s := newCache(t, Config{}).Space("yiyan", usual())
		l := &script{make: func(int64) (entry.Content, error) { return pool(size), nil }}
		count := map[string]int{}
		for range draws {
			h := mustFetch(t, s, "yiyan", l)
			if !h.Random {
				t.Fatal("a pick from a pool is not marked random")
			}
			count[string(h.Rep.Data)]++
		}
		wantCalls(t, l, 1)
		chi := 0.0
		for _, n := range count {
			d := float64(n) - draws/size
			chi += d * d / (draws / size)
		}
		// 19 degrees of freedom: above 50 once in more than 5,000 runs.
		if len(count) != size || chi > 50 {
			t.Errorf("%d of %d quotes, chi square %.1f", len(count), size, chi)
		}
	})
}

func TestLostPartIsFilledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{})
		s := c.Space("yiyan", usual())
		l := &script{make: func(int64) (entry.Content, error) { return pool(3), nil }}
		mustFetch(t, s, "yiyan", l)
		leavesHot(t, s, "yiyan")
		losesParts(t, s, "yiyan")
		mustFetch(t, s, "yiyan", l)
		wantCalls(t, l, 2)
		mustFetch(t, s, "yiyan", l)
		wantCalls(t, l, 2)
	})
}

func TestLargeEntriesComeBackWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCache(t, Config{}).Space("60s", usual())
		long := strings.Repeat("news ", 4000)
		l := &script{make: func(int64) (entry.Content, error) { return textContent(long), nil }}
		for range 2 {
			wantText(t, mustFetch(t, s, "60s", l), long)
		}
		leavesHot(t, s, "60s")
		wantText(t, mustFetch(t, s, "60s", l), long) // of its parts
		synctest.Wait()
		if s.cache.near.Hot("60s") == nil {
			t.Error("the parts were not joined")
		}
		wantText(t, mustFetch(t, s, "60s", l), long)
		wantCalls(t, l, 1)
	})
}

func TestUnchangedContentKeepsItsDateOfChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{})
		s := c.Space("yiyan", usual())
		l := &script{make: func(int64) (entry.Content, error) { return pool(30), nil }}
		first := mustFetch(t, s, "yiyan", l)
		time.Sleep(2 * time.Minute)
		mustFetch(t, s, "yiyan", l)
		synctest.Wait()
		second := mustFetch(t, s, "yiyan", l)
		wantCalls(t, l, 2)
		if !second.Meta.Modified.Equal(first.Meta.Modified) || second.Meta.Created.Equal(first.Meta.Created) {
			t.Errorf("created %v changed %v, then created %v changed %v", first.Meta.Created, first.Meta.Modified, second.Meta.Created, second.Meta.Modified)
		}
	})
}

// A picture as large as sjbz takes is kept at the default cap.
func TestLargePictureIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Memory: near.DefaultMemory})
		s := c.Space("sjbz/pictures", classed(policy.Keyed))
		l := &script{make: func(int64) (entry.Content, error) { return textContent(strings.Repeat("p", 6<<20)), nil }}
		for range 5 {
			if h := mustFetch(t, s, "sjbz/pictures:v1:a", l); len(h.Rep.Data) != 6<<20 {
				t.Errorf("%d bytes", len(h.Rep.Data))
			}
		}
		wantCalls(t, l, 1)
	})
}

// flood fills a space with bodies of so many bytes under keys of their own.
func flood(t *testing.T, s *Space, n, size int) {
	t.Helper()
	body := strings.Repeat("p", size)
	for i := range n {
		mustFetch(t, s, fmt.Sprint(s.name, ":flood", i), &script{text: fmt.Sprint(i, body)})
	}
}

// At the default cap, a lookup and its stale copy outlive a flood of pictures
// and drawings.
func TestPicturesAndDrawingsEvictNoLookup(t *testing.T) {
	for _, drawn := range []policy.Class{policy.Keyed, policy.Computed} {
		synctest.Test(t, func(t *testing.T) {
			c := newCache(t, Config{Memory: near.DefaultMemory})
			p := usual()
			p.Class, p.StaleIfError = policy.Keyed, 30*24*time.Hour
			lookups, pictures := c.Space("kd", p), c.Space("sjbz/pictures", p)
			p.Class = drawn
			drawings := c.Space("qrcode", p)
			l := &script{}
			mustFetch(t, lookups, "kd:1", l)
			flood(t, pictures, 300, 1<<20)
			flood(t, drawings, 1500, 20<<10)
			if h := mustFetch(t, lookups, "kd:1", l); h.Tier != Near || h.State != policy.Fresh {
				t.Errorf("drawings in %s: the lookup was evicted: %+v", drawn, h)
			}
			l.set(func(l *script) { l.err = errDown })
			time.Sleep(29 * 24 * time.Hour)
			if h := mustFetch(t, lookups, "kd:1", l); h.State != policy.Stale {
				t.Errorf("drawings in %s: no stale copy: %+v", drawn, h)
			}
		})
	}
}

// An entry that grows or shrinks from one fill to the next is found as of the last
// fill, wherever its parts are.
func TestEntryThatChangesItsSizeIsStoredOnce(t *testing.T) {
	sizes := []int{100, 1 << 20, 20 << 10, 100 << 10, 100, 40 << 10, 10}
	story(t, usual(), nil, func(t *testing.T, s *Space) {
		s = s.cache.Space("keyed", classed(policy.Keyed))
		class := map[bool]string{false: "keyed", true: "large"}
		for round, size := range sizes {
			text := strings.Repeat(fmt.Sprint(round), size)
			l := &script{text: text}
			for range 2 { // a second time with the same content
				time.Sleep(12 * time.Minute)
				wantText(t, mustFetch(t, s, "keyed:1", l), text)
				time.Sleep(time.Second)
				if h := mustFetch(t, s, "keyed:1", l); h.Tier != Near || h.State != policy.Fresh {
					t.Errorf("%d bytes: %+v", size, h)
				}
			}
			info, _, _ := s.Look("keyed:1")
			if want := class[size > 32<<10]; info.Class != want || !info.Complete || info.Bytes < size {
				t.Errorf("%d bytes: %+v, want class %s", size, info, want)
			}
			n := 0
			s.Walk(func(EntryInfo) bool { n++; return true })
			if n != 1 {
				t.Errorf("%d entries", n)
			}
		}
		s.PurgeKey("keyed:1", time.Now())
		if _, _, found := s.Look("keyed:1"); found {
			t.Error("purged, and still there")
		}
	})
}
