package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/far/redistest"
	"sundry/cache/policy"
)

// newer are settings of a version that has a field more in every object, and some within
// objects that this one does not know.
const newer = `{"seq":2,"new":{"a":[1,{"b":9007199254740993}]},
	"cache":{"ip":{"values":{"ttl":"2h"},"new":1}},"by_hand":{"ip":"2026-01-01T00:00:00Z"},"whole":{"60s":{"new":2}},
	"breakers":{"h":{"force":"open","new":3}},"purges":{"ip":{"soft":"2026-01-01T00:00:00Z","new":4}},
	"orders":[{"seq":2,"at":"2026-01-01T00:00:00Z","do":"drop","target":"ip","key":"ip:k","new":5}],
	"audit":[{"seq":1,"at":"2026-01-01T00:00:00Z","by":"me","do":"cache","target":"ip","after":{"values":{"ttl":"2h"},"new":6},"new":7},
	{"seq":1,"at":"2026-01-01T00:00:00Z","by":"autopilot","do":"cache","target":"60s"},{"seq":1,"at":"2026-01-01T00:00:00Z","by":"me","do":"breaker","target":"h"},
	{"seq":2,"at":"2026-01-01T00:00:00Z","by":"me","do":"drop","target":"ip","note":"ip:k","new":8}]}`

func newerSettings(t *testing.T) *Settings {
	t.Helper()
	s, err := parse([]byte(newer))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lacksNew lists which fields of the newer version are not there.
func lacksNew(b []byte) (lacking []string) {
	for n := range 9 {
		want := fmt.Sprintf(`"new":%d`, n)
		if n == 0 {
			want = `"new":{"a":[1,{"b":9007199254740993}]}`
		}
		if !bytes.Contains(b, []byte(want)) {
			lacking = append(lacking, want)
		}
	}
	return lacking
}

// everyChange is one of each kind, on targets that the newer settings hold and on others.
func everyChange() (all []Change) {
	for _, c := range []Change{
		{Do: DoCache, Cache: map[string]string{"ttl": "1h"}}, {Do: DoCache, Cache: map[string]string{"ttl": "3h"}, By: ByAutopilot},
		{Do: DoPurge}, {Do: DoPurge, Hard: true}, {Do: DoDrop, Key: "ip:k"},
	} {
		for _, target := range []string{"ip", "60s", policy.AllEndpoints} {
			if c.Target = target; c.Do != DoCache || (c.By == ByAutopilot) == (target == "60s") && target != policy.AllEndpoints {
				all = append(all, c)
			}
		}
	}
	return append(all, Change{Do: DoBreaker, Target: "h", Force: "closed"}, Change{Do: DoBreaker, Target: "g", Force: "open"}, Change{Do: DoReset, Target: "h"})
}

// TestUnknownFieldsAreCarriedAlong through each change, however it comes into the settings.
func TestUnknownFieldsAreCarriedAlong(t *testing.T) {
	base := newerSettings(t)
	for _, c := range everyChange() {
		old, ours := after(t, c), newerSettings(t)
		changed := and(t, ours, c)
		ways := map[string]*Settings{"changed": changed, "merged": old.merge(ours, nine), "merged the other way": ours.merge(old, nine), "begun anew": ours.begunAnew(nine)}
		pending, err := ours.withPending([]pendingChange{{Change: c, At: nine, waited: true}})
		if err != nil {
			t.Fatal(err)
		}
		ways["pending"] = pending
		overtaken, err := ours.withPending([]pendingChange{{Change: c, At: nine.AddDate(-1, 0, 0), waited: true}})
		if err != nil {
			t.Fatal(err)
		}
		ways["overtaken"] = overtaken
		for way, s := range ways {
			b, err := json.Marshal(s)
			if lacking := lacksNew(b); err != nil || len(lacking) > 0 {
				t.Errorf("%+v, %s: %v, without %v: %s", c, way, err, lacking, b)
			}
			if again := decoded(t, s); !again.equals(s) {
				t.Errorf("%+v, %s: not the same after it was stored", c, way)
			}
		}
		if !ours.equals(base) {
			t.Errorf("%+v changed the settings before it", c)
		}
	}
}

// changedBy are settings after a change that set what is unknown to a value: of them, and of
// all that they hold of ip.
func changedBy(s *Settings, do, value string, at time.Time) *Settings {
	next := s.clone()
	next.Seq++
	next.Audit = append(next.Audit, Record{Seq: next.Seq, At: at, By: "newer", Do: do, Target: "ip"})
	next.Unknown = Unknown{"new": json.RawMessage(value)}
	setOrDelete(&next.Cache, "ip", CacheSettings{Unknown: next.Unknown}, true)
	setOrDelete(&next.Breakers, "ip", BreakerHold{Unknown: next.Unknown}, true)
	setOrDelete(&next.Purges, "ip", StoredPurge{Purge: s.Purges["ip"].Purge, Unknown: next.Unknown}, true)
	return next
}

// TestTheNewestUnknownValueIsCarriedAlong where two histories are merged, whichever of them an
// instance followed.
func TestTheNewestUnknownValueIsCarriedAlong(t *testing.T) {
	at := func(minute int) time.Time { return nine.Add(time.Duration(minute) * time.Minute) }
	base := changedBy(&Settings{}, "novelty", "1", at(0))
	reset := func(s *Settings, minute int) *Settings {
		next, err := s.With(Change{Do: DoReset, Target: "h"}, at(minute))
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	for name, row := range map[string]struct{ newest, other *Settings }{
		"a backup":                   {changedBy(base, "novelty", "2", at(1)), base},
		"changed on a stale replica": {changedBy(base, "novelty", "2", at(2)), reset(base, 1)},
		"another change came later":  {changedBy(base, "novelty", "2", at(1)), reset(base, 2)},
		"changed on both":            {changedBy(base, "novelty", "2", at(2)), reset(changedBy(base, "novelty", "3", at(1)), 3)},
		"changed by a known kind":    {changedBy(base, DoReset, "2", at(2)), reset(base, 1)},
	} {
		for way, merged := range map[string]*Settings{"": row.newest.merge(row.other, at(9)), " elsewhere": row.other.merge(row.newest, at(9))} {
			got := []json.RawMessage{
				merged.Unknown["new"], merged.Cache["ip"].Unknown["new"],
				merged.Breakers["ip"].Unknown["new"], merged.Purges["ip"].Unknown["new"],
			}
			for i, v := range got {
				if string(v) != "2" {
					t.Errorf("%s%s: %d: %s", name, way, i, v)
				}
			}
		}
	}
}

// TestWhatIsUnknownOfALaterChangeCounts, whatever else was changed after it.
func TestWhatIsUnknownOfALaterChangeCounts(t *testing.T) {
	base := changedBy(&Settings{}, "novelty", "1", nine)
	for _, c := range []Change{ttl("1h", 0), {Do: DoBreaker, Target: "ip", Force: "open"}, {Do: DoPurge, Target: "ip"}} {
		later := and(t, base, c)
		for _, u := range []Unknown{later.Cache["ip"].Unknown, later.Breakers["ip"].Unknown, later.Purges["ip"].Unknown} {
			if string(u["new"]) != "1" {
				t.Fatalf("%s: %s", c.Do, u)
			}
		}
		of := Unknown{"new": json.RawMessage("2")}
		changed := later.clone()
		changed.Cache["ip"] = CacheSettings{Values: later.Cache["ip"].Values, Unknown: of}
		changed.Breakers["ip"] = BreakerHold{Force: later.Breakers["ip"].Force, Unknown: of}
		changed.Purges["ip"] = StoredPurge{Purge: later.Purges["ip"].Purge, Unknown: of}
		elsewhere := changedBy(base, "novelty", "1", nine.Add(24*time.Hour))
		for way, merged := range map[string]*Settings{"here": changed.merge(elsewhere, nine), "there": elsewhere.merge(changed, nine)} {
			got := map[string]Unknown{DoCache: merged.Cache["ip"].Unknown, DoBreaker: merged.Breakers["ip"].Unknown, DoPurge: merged.Purges["ip"].Unknown}[c.Do]
			if string(got["new"]) != "2" {
				t.Errorf("%s, %s: %s", c.Do, way, got)
			}
		}
	}
}

// TestKnownFieldsAreNotCarriedAlong once they are gone, however they are spelled.
func TestKnownFieldsAreNotCarriedAlong(t *testing.T) {
	s, err := parse([]byte(`{"SEQ":1,"Breakers":{"h":{"FORCE":"open","Until":"2026-01-01T00:00:00Z"}}}`))
	if err != nil || s.Seq != 1 {
		t.Fatal(err, s)
	}
	b, err := json.Marshal(and(t, s, Change{Do: DoBreaker, Target: "h", Force: "open"}, Change{Do: DoPurge, Target: "ip"}))
	if err != nil || bytes.Contains(b, []byte("SEQ")) || bytes.Contains(b, []byte("FORCE")) || bytes.Contains(b, []byte("Until")) {
		t.Errorf("%v: %s", err, b)
	}
}

// TestTwoVersions share a store during a rolling upgrade: after everything that the older one
// does, and an outage, the newer one finds what it has stored.
func TestTwoVersions(t *testing.T) {
	for name, open := range map[string]func(*testing.T) Store{
		"file":  func(t *testing.T) Store { return &File{Path: filepath.Join(t.TempDir(), "state.json")} },
		"redis": func(t *testing.T) Store { return tierOf(t, redistest.Start(t)).SharedValue("settings") },
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			older, at := newReplicator(store)
			if err := older.FirstSync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ok, err := store.CompareAndSwap(t.Context(), nil, []byte(newer)); !ok || err != nil {
				t.Fatal(ok, err)
			}
			for _, c := range everyChange() {
				if _, err := older.Change(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			b, err := store.Load(t.Context())
			if lacking := lacksNew(b); err != nil || len(lacking) > 0 || older.Pending() > 0 || at.last()["ip"]["ttl"] != "1h" {
				t.Errorf("%v, without %v: %s", err, lacking, b)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		conn := &connection{sharedStore: &sharedStore{}}
		conn.put([]byte(newer))
		older, _ := newReplicator(conn)
		if err := older.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		conn.put(nil) // what it restores is whole
		if err := older.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if lacking := lacksNew(conn.mem); len(lacking) > 0 {
			t.Errorf("restored without %v: %s", lacking, conn.mem)
		}
	})
}
