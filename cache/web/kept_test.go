package web

import (
	"strings"
	"testing"
	"time"

	"sundry/cache/snapshot"
)

// always are the rules of all keys.
func always(string) *Rules { return &usualRules }

// restart gives what one store keeps to another one, and returns how many objects had which outcome.
func restart(from, to *Store, rules func(string) *Rules, since, now time.Time) (got map[snapshot.Outcome]int) {
	got = map[snapshot.Outcome]int{}
	for key, value := range from.kept {
		got[to.admit(key, value, rules(key), since, now)]++
	}
	return got
}

// TestARestartKeepsOctets of fields, which need be no UTF-8.
func TestARestartKeepsOctets(t *testing.T) {
	const name = "attachment; filename=\xb1\xa8\xb1\xed.xls" // in GBK
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body", "Content-Disposition: "+name))
	if got := restart(s, again, always, time.Time{}, noon.Add(time.Hour)); got[snapshot.Read] != 1 {
		t.Fatal(got)
	}
	for _, kept := range []*Store{s, again} {
		if got := kept.Get("x/a")[0].Header.Get("Content-Disposition"); got != name {
			t.Errorf("%q", got)
		}
	}
}

// TestASoftPurgeOutlivesARestart, here and for who finds what was purged in Redis.
func TestASoftPurgeOutlivesARestart(t *testing.T) {
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body", "Cache-Control: max-age=1000"))
	s.Purge(Purge{At: noon.Add(10 * time.Second), Soft: true})
	if got := restart(s, again, always, time.Time{}, noon.Add(time.Hour)); got[snapshot.Read] != 1 {
		t.Fatal(got)
	}
	if left := again.Get("x/a")[0].Left(noon.Add(10 * time.Second)); left > 0 {
		t.Errorf("it is fresh for %v", left)
	}
}

// TestARestartKeepsResponses, as they were, in their order: not those of an API that is gone, of before the purges that are known, or
// purged since.
func TestARestartKeepsResponses(t *testing.T) {
	rules := func(key string) *Rules {
		if key == "gone/a" {
			return nil
		}
		return &usualRules
	}
	s := newTestStore(t, 1<<20)
	for key, after := range map[string]int{"x/a": 1, "x/b": 2, "gone/a": 3} {
		s.Put(key, object(after, "old "+key, "Etag: \"e\""))
		s.Put(key, object(after+60, "new "+key, "Etag: \"f\"", "Cache-Tag: t"))
	}
	s.Put("x/a", object(5, "other").forRequest("X-A: 2"))
	s.Put("x/before", object(0, "before"))
	again := newTestStore(t, 1<<20)
	again.Purge(Purge{At: noon.Add(time.Hour), Key: "x/b"})
	got := restart(s, again, rules, noon.Add(2*time.Second), noon.Add(time.Hour))
	if got[snapshot.Read] != 2 || got[snapshot.Unknown] != 1 || got[snapshot.Gone] != 2 || len(got) != 3 {
		t.Error(got)
	}
	if stored(again, "x/a", "1") != "new x/a" || stored(again, "x/a", "2") != "other" || stored(again, "x/b", "1") != "" || stored(again, "gone/a", "1") != "" {
		t.Error("not what was kept")
	}
	one := selector("X-A: 1")
	if o, was := again.Get("x/a").Select(one, false), s.Get("x/a").Select(one, false); o.Tag() != was.Tag() || !o.Born.Equal(was.Born) || o.Tags[0] != "t" {
		t.Errorf("%+v", o)
	}
	again.Put("x/a", object(600, "newer"))
	if got := restart(s, again, rules, noon.Add(2*time.Second), noon.Add(time.Hour)); got[snapshot.Newer] == 0 || stored(again, "x/a", "1") != "newer" {
		t.Errorf("%v, %q", got, stored(again, "x/a", "1"))
	}
}

// TestARestartAfterTheClockWasSetBack keeps nothing of the future.
func TestARestartAfterTheClockWasSetBack(t *testing.T) {
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/before", object(0, "body"))
	s.Put("x/after", object(2, "body"))
	got := restart(s, again, always, time.Time{}, noon.Add(time.Second))
	if got[snapshot.Read] != 1 || got[snapshot.Broken] != 1 || stored(again, "x/after", "1") != "" {
		t.Error(got)
	}
}

// TestAnAPIThatHasMovedKeepsNothing: another origin may give other responses.
func TestAnAPIThatHasMovedKeepsNothing(t *testing.T) {
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/a", object(0, "body"))
	moved := usualRules
	moved.Origin = "https://other.example"
	if got := restart(s, again, func(string) *Rules { return &moved }, time.Time{}, noon.Add(time.Hour)); got[snapshot.Unknown] != 1 {
		t.Error(got)
	}
}

// TestPrivateURIsAreInNoFile.
func TestPrivateURIsAreInNoFile(t *testing.T) {
	s := newTestStore(t, 1<<20)
	s.Private = func(key string) bool { return strings.Contains(key, "token=") }
	s.Put("/x?token=secret", object(0, "a"))
	s.Put("/x?page=1", object(0, "b"))
	for key := range s.kept {
		if key != "/x?page=1" {
			t.Errorf("%s is kept", key)
		}
	}
}

// TestTheLargestRecordIsKept.
func TestTheLargestRecordIsKept(t *testing.T) {
	const memory = 64 << 20
	s, again := newTestStore(t, memory), newTestStore(t, memory)
	key := "x/" + strings.Repeat("%E4", 64<<10)
	s.Put(key, object(1, strings.Repeat("x", memory-(1<<20))))
	if got := restart(s, again, always, time.Time{}, noon.Add(time.Hour)); got[snapshot.Read] != 1 {
		t.Error(got)
	}
	for _, value := range s.kept {
		if most := s.Kept(always, nil).Largest; int64(len(value)) > most {
			t.Errorf("a value of %d bytes would not be read, %d are", len(value), most)
		}
	}
}
