package cache

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestHardPurgeEmptiesAnEndpoint(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *shelf, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		time.Sleep(time.Second)
		for _, s := range []*Space{one, two} {
			s.cache.Purge(map[string]Mark{"story": {Hard: time.Now()}})
		}
		time.Sleep(time.Second)
		if h := mustFetch(t, two, "k", l); h.Tier != Upstream {
			t.Errorf("the far tier gave what was purged: %+v", h)
		}
		wantText(t, mustFetch(t, one, "k", l), "answer 2")
		wantCalls(t, l, 2)
		if h := mustFetch(t, one, "k", l); h.State != Fresh || h.Tier != Near {
			t.Errorf("what came after the purge: %+v", h)
		}
	})
}

func TestSoftPurgeKeepsAStandIn(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(time.Second)
		s.cache.Purge(map[string]Mark{Everywhere: {Soft: time.Now()}})
		l.set(func(l *script) { l.err = errors.New("down") })
		if h := mustFetch(t, s, "k", l); h.State != Grace || h.Left > 0 {
			t.Errorf("softly purged: %+v", h)
		}
		synctest.Wait() // for the refresh that fails
		l.set(func(l *script) { l.err = nil })
		time.Sleep(time.Minute)
		mustFetch(t, s, "k", l)
		time.Sleep(time.Second)
		if h := mustFetch(t, s, "k", l); h.State != Fresh {
			t.Errorf("not refreshed: %+v", h)
		}
	})
}

func TestPurgesDoNotTouchOthers(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		s.cache.Purge(map[string]Mark{"other": {Hard: time.Now()}})
		wantText(t, mustFetch(t, s, "k", l), "answer 1")
		late := s.cache.Space("other", usual())
		if m := late.mark.Load(); m == nil || m.Hard.IsZero() {
			t.Error("a space that was opened later does not know of the purge")
		}
		s.cache.Purge(nil)
		if late.mark.Load() != nil {
			t.Error("marks cannot be taken back")
		}
	})
}

func TestMarks(t *testing.T) {
	born := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	now := born.Add(10 * time.Second)
	before, after := born.Add(-time.Second), born.Add(time.Second)
	p := usual()
	ungraceful := p
	ungraceful.Grace = 0
	for name, r := range map[string]struct {
		mark   Mark
		meta   Meta
		policy *Policy
		given  State
		want   State
	}{
		"nothing is marked":             {Mark{}, Meta{Born: born}, &p, Fresh, Fresh},
		"born after both":               {Mark{before, before}, Meta{Born: born}, &p, Fresh, Fresh},
		"hard":                          {Mark{Hard: after}, Meta{Born: born}, &p, Fresh, Gone},
		"hard, at the same instant":     {Mark{Hard: born}, Meta{Born: born}, &p, Eager, Gone},
		"soft":                          {Mark{Soft: after}, Meta{Born: born}, &p, Fresh, Grace},
		"soft, of what is stale anyway": {Mark{Soft: after}, Meta{Born: born}, &p, Stale, Stale},
		"soft, without grace":           {Mark{Soft: after}, Meta{Born: born}, &ungraceful, Eager, Stale},
		"soft, a no":                    {Mark{Soft: after}, Meta{Born: born, Negative: true}, &p, Fresh, Gone},
	} {
		state, left := r.mark.apply(&r.meta, r.policy, now, r.given, time.Minute)
		if state != r.want || (state != r.given) != (left < 0) {
			t.Errorf("%s: %v, %v left; want %v", name, state, left, r.want)
		}
	}
}

func TestWalkAndLook(t *testing.T) {
	l := &script{}
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "story:v1:main:=a|", l)
		mustFetch(t, s, "story:v1:main:=b|", l)
		mustFetch(t, s, "storyteller:v1:main:=c|", l)
		time.Sleep(5 * time.Second)
		var seen []EntryInfo
		s.Walk(func(e EntryInfo) bool { seen = append(seen, e); return true })
		if len(seen) != 2 {
			t.Fatalf("%d entries, want the two of the space: %+v", len(seen), seen)
		}
		for _, e := range seen {
			if e.State != Fresh || e.Age != 5*time.Second || e.Bytes == 0 || !e.Complete {
				t.Errorf("%+v", e)
			}
		}
		info, reps, ok := s.Look("story:v1:main:=a|")
		if !ok || info.Key != "story:v1:main:=a|" || string(reps[0].Data) != "answer 1" {
			t.Errorf("%v %+v %q", ok, info, reps[0].Data)
		}
		s.Drop("story:v1:main:=a|", time.Now())
		if _, _, ok := s.Look("story:v1:main:=a|"); ok {
			t.Error("a dropped entry is still there")
		}
		stop := 0
		s.Walk(func(EntryInfo) bool { stop++; return false })
		if stop != 1 {
			t.Errorf("%d visits after the visitor had enough", stop)
		}
	})
}

func TestDropReachesTheFarTier(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *shelf, one, _ *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		one.Drop("k", time.Now())
		synctest.Wait()
		if len(far.values) != 0 {
			t.Error("it is still in the far tier")
		}
	})
}
