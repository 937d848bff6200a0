package cache

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// What an endpoint caches beside its answers is shown apart, purged by key, and
// purged with the endpoint.
func TestParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Far: newFakeRemote()})
		answers, pictures := c.Space("sjbz", usual()), c.Space("sjbz/pictures", usual())
		l := &script{}
		fill := func() {
			mustFetch(t, answers, "sjbz:v1:main", l)
			mustFetch(t, pictures, "sjbz/pictures:v1:a", l)
			mustFetch(t, pictures, "sjbz/pictures:v1:b", l)
			synctest.Wait()
		}
		shown := func(s *Space, want ...string) {
			t.Helper()
			got := map[string]policy.State{}
			s.Walk(func(e EntryInfo) bool { got[e.Key] = e.State; return true })
			if len(got) != len(want) {
				t.Errorf("%s shows %v, want %v", s.Name(), got, want)
			}
			for _, key := range want {
				if _, _, ok := s.Look(key); got[key] != policy.Fresh || !ok {
					t.Errorf("%s: %s is %v", s.Name(), key, got[key])
				}
			}
		}
		fill()
		shown(answers, "sjbz:v1:main")
		shown(pictures, "sjbz/pictures:v1:a", "sjbz/pictures:v1:b")

		time.Sleep(time.Second)
		pictures.PurgeKey("sjbz/pictures:v1:a", time.Now())
		shown(pictures, "sjbz/pictures:v1:b")
		time.Sleep(time.Second)
		fill()
		wantCalls(t, l, 4)

		time.Sleep(time.Second)
		c.SetPurges(map[string]policy.Purge{"sjbz": {Hard: time.Now()}})
		time.Sleep(time.Second)
		fill()
		wantCalls(t, l, 7)
		shown(pictures, "sjbz/pictures:v1:a", "sjbz/pictures:v1:b")
	})
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
			if e.State != policy.Fresh || e.Age != 5*time.Second || e.Bytes == 0 || !e.Complete {
				t.Errorf("%+v", e)
			}
		}
		info, reps, ok := s.Look("story:v1:main:=a|")
		if !ok || info.Key != "story:v1:main:=a|" || string(reps[0].Data) != "answer 1" {
			t.Errorf("%v %+v %q", ok, info, reps[0].Data)
		}
		s.PurgeKey("story:v1:main:=a|", time.Now())
		if _, _, ok := s.Look("story:v1:main:=a|"); ok {
			t.Error("a purged entry is still there")
		}
		stop := 0
		s.Walk(func(EntryInfo) bool { stop++; return false })
		if stop != 1 {
			t.Errorf("%d visits after the visitor had enough", stop)
		}
	})
}

type dated string

func (d dated) Load(context.Context, bool) (entry.Content, error) {
	return entry.Content{Source: "s", Edition: string(d), Forms: []entry.Form{{{Status: 200, Data: []byte("x")}}}}, nil
}

func TestSpaceEditionLate(t *testing.T) {
	c := newCache(t, Config{})
	s := c.Space("daily", policy.Policy{Until: must(policy.ParseCalendar("00:00 UTC")), Poll: time.Minute, FillTimeout: time.Second})
	now := time.Now()
	if late := s.EditionLate("daily:", now); late != 0 {
		t.Errorf("nothing cached, and %v late", late)
	}
	mustFetch(t, s, "daily:", dated("2020-01-01"))
	if late := s.EditionLate("daily:", now); late < 6*365*24*time.Hour {
		t.Errorf("%v late", late)
	}
	if late := c.Space("plain", policy.Policy{TTL: time.Hour}).EditionLate("daily:", now); late != 0 {
		t.Errorf("no timetable, and %v late", late)
	}
}
