package live

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sundry/cache/policy"
	"sundry/upstreams/host"
)

var nine = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// after makes changes one after the other, a minute apart.
func after(t *testing.T, changes ...Change) *Settings {
	t.Helper()
	s := &Settings{}
	for i, c := range changes {
		before := stored(t, s)
		c.ID = cmp.Or(c.ID, rand.Text())
		next, err := s.With(c, nine.Add(time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		if still := stored(t, s); string(still) != string(before) {
			t.Fatalf("%+v changed the settings before it: %s", c, still)
		}
		s = next
	}
	return s
}

func TestCacheSettingsComeAndGo(t *testing.T) {
	s := after(t,
		Change{By: "a", Do: "cache", Target: "ip", Cache: map[string]string{"ttl": "1h"}},
		Change{By: "b", Do: "cache", Target: "60s", Cache: map[string]string{"ttl": "2h"}, For: 10 * time.Minute},
		Change{By: "c", Do: "cache", Target: "ip"},
	)
	want := map[string]map[string]string{"60s": {"ttl": "2h"}}
	if diff := gocmp.Diff(want, s.ActiveCache(nine.Add(5*time.Minute))); diff != "" {
		t.Error(diff)
	}
	if live := s.ActiveCache(nine.Add(11 * time.Minute)); len(live) != 0 {
		t.Errorf("expired, and still there: %v", live)
	}
	if next := s.NextExpiry(nine); !next.Equal(nine.Add(11 * time.Minute)) {
		t.Errorf("expires at %v", next)
	}
	if next := s.NextExpiry(nine.Add(time.Hour)); !next.IsZero() {
		t.Errorf("something expires at %v", next)
	}
	if s.Seq != 3 || len(s.Audit) != 3 || s.Audit[0].Before != nil || s.Audit[0].After == nil || s.Audit[2].After != nil || s.Audit[1].By != "b" {
		t.Errorf("%+v", s.Audit)
	}
}

func TestUndo(t *testing.T) {
	s := after(t,
		Change{Do: "cache", Target: "ip", Cache: map[string]string{"ttl": "1h"}, For: time.Hour},
		Change{Do: "cache", Target: "ip", Cache: map[string]string{"ttl": "2h"}},
		Change{Do: "breaker", Target: "h", Force: "open"},
		Change{Do: "purge", Target: "ip"},
	)
	c, err := s.Undo("2", "me", nine.Add(10*time.Minute))
	if err != nil || c.Set["ttl"] != "1h" || !c.Until.Equal(nine.Add(time.Hour)) || c.Undoes != 2 || c.By != "me" {
		t.Errorf("back to what expires: %+v %v", c, err)
	}
	if c, err := s.Undo("2", "me", nine.Add(2*time.Hour)); err != nil || c.Set["ttl"] != "" || !c.Until.IsZero() {
		t.Errorf("back to what has expired: %+v %v", c, err)
	}
	first := after(t, Change{Do: "cache", Target: "ip", Cache: map[string]string{"ttl": "1h"}})
	if c, err := first.Undo("1", "me", nine); err != nil || len(c.Set) != 1 || c.Set["ttl"] != "" {
		t.Errorf("back to the file: %+v %v", c, err)
	}
	if c, err := s.Undo("3", "me", nine); err != nil || c.Force != "auto" {
		t.Errorf("a breaker: %+v %v", c, err)
	}
	for _, change := range []string{"4", "99", "", "x"} {
		if _, err := s.Undo(change, "me", nine); err == nil {
			t.Errorf("change %q was undone", change)
		}
	}
}

func TestBreakersAndPurges(t *testing.T) {
	s := after(t,
		Change{Do: "breaker", Target: "a", Force: "open", For: time.Hour},
		Change{Do: "breaker", Target: "b", Force: "closed"},
		Change{Do: "breaker", Target: "b", Force: "auto"},
		Change{Do: "purge", Target: "ip"},
		Change{Do: "purge", Target: "ip", Hard: true},
		Change{Do: "purge", Target: policy.AllEndpoints},
		Change{Do: "drop", Target: "ip", Key: "ip:k"},
		Change{Do: "reset", Target: "a"},
	)
	if diff := gocmp.Diff(map[string]host.Force{"a": host.ForceOpen}, s.HeldBreakers(nine)); diff != "" {
		t.Error(diff)
	}
	if held := s.HeldBreakers(nine.Add(2 * time.Hour)); len(held) != 0 {
		t.Errorf("expired, and still there: %v", held)
	}
	want := map[string]policy.Purge{
		"ip": {Soft: nine.Add(3 * time.Minute), Hard: nine.Add(4 * time.Minute)}, policy.AllEndpoints: {Soft: nine.Add(5 * time.Minute)},
	}
	if diff := gocmp.Diff(want, s.purgesSince(time.Time{})); diff != "" {
		t.Error(diff)
	}
	if diff := gocmp.Diff([]Order{{Seq: 7, At: nine.Add(6 * time.Minute), Do: "drop", Target: "ip", Key: "ip:k"}, {Seq: 8, At: nine.Add(7 * time.Minute), Do: "reset", Target: "a"}}, s.ops()); diff != "" {
		t.Error(diff)
	}
	for _, c := range []Change{{Do: "breaker", Target: "a", Force: "ajar"}, {Do: "dance"}} {
		if _, err := s.With(c, nine); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// TestAPurgeAfterOneOfTheFuture has a later time as well, or instances would take the two
// for one.
func TestAPurgeAfterOneOfTheFuture(t *testing.T) {
	for _, hard := range []bool{false, true} {
		s := and(t, &Settings{}, Change{Do: DoPurge, Target: "ip"}, Change{Do: DoPurge, Target: "ip", Hard: true})
		next, err := s.With(Change{ID: "a", Do: DoPurge, Target: "ip", Hard: hard}, nine)
		if err != nil {
			t.Fatal(err)
		}
		before, p := s.Purges["ip"], next.Purges["ip"]
		if p.Hard.After(before.Hard) != hard || p.Soft.After(before.Soft) == hard {
			t.Errorf("hard: %v: %+v after %+v", hard, p, before)
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	s := &Settings{}
	for n := range 500 {
		s = and(t, s, Change{Do: "drop", Target: "ip", Key: fmt.Sprint("ip:", n)}, Change{Do: "purge", Target: "ip"}, Change{Do: "breaker", Target: "h", Force: "open"})
	}
	if len(s.Audit) != maxAudit || len(s.records) > maxAudit+maxDrops+2 || len(s.stored().Orders) != maxOrders || s.Seq != 1500 {
		t.Errorf("%d records, %d of them in the log, %d orders", len(s.records), len(s.Audit), len(s.stored().Orders))
	}
	if s.floor.IsZero() || len(decoded(t, s).records) != len(s.records) || !decoded(t, s).floor.Equal(s.floor) {
		t.Errorf("the floor is %v, and %v once it was stored", s.floor, decoded(t, s).floor)
	}
}

func TestSettingsSurviveJSON(t *testing.T) {
	s := after(t, Change{Do: "cache", Target: "ip", Cache: map[string]string{"ttl": "1h"}, For: time.Hour}, Change{Do: "purge", Target: "ip"})
	if !same(t, s, decoded(t, s)) {
		t.Errorf("%+v, and read again %+v", s, decoded(t, s))
	}
}

func TestRecordsSayWhatWasDone(t *testing.T) {
	s := after(t,
		Change{Do: "purge", Target: "ip"}, Change{Do: "purge", Target: policy.AllEndpoints, Hard: true},
		Change{Do: "drop", Target: "ip", Key: "ip:1"}, Change{Do: "reset", Target: "a.example"},
	)
	for i, want := range []string{"soft", "hard", "ip:1", ""} {
		if got := s.Audit[i].Note; got != want {
			t.Errorf("%s: note %q, want %q", s.Audit[i].Do, got, want)
		}
	}
}

// TestWhenSettingsWereChanged: by anybody, and the reason stands in the audit log.
func TestWhenSettingsWereChanged(t *testing.T) {
	step := Change{By: ByAutopilot, Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2h"}, Note: "because"}
	s := after(t, step, Change{By: "op", Do: DoCache, Target: "60s", Cache: map[string]string{"ttl": "1h"}}, Change{By: "op", Do: DoPurge, Target: "ip"})
	if s.Audit[0].Note != "because" || !s.LastChanged("ip").Equal(nine) || !byHand(s).IsZero() {
		t.Errorf("%+v", s)
	}
	undo, err := s.Undo("1", "op", nine)
	if err != nil {
		t.Fatal(err)
	}
	undo.ID = "undo"
	undone, err := s.With(undo, nine.Add(time.Hour))
	if err != nil || !undone.LastChanged("ip").Equal(nine.Add(time.Hour)) || !byHand(undone).Equal(nine.Add(time.Hour)) {
		t.Errorf("%+v %v", undone, err)
	}
}

// byHand returns when an operator last changed the cache settings of ip.
func byHand(s *Settings) time.Time { return s.last(subject{DoCache, "ip", ""}, isByHand).At }

// TestAnOperatorsChangeOutlivesTheAuditLog: an older one, which was pending meanwhile, does
// not replace it.
func TestAnOperatorsChangeOutlivesTheAuditLog(t *testing.T) {
	s := after(t, Change{By: "op", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1h"}})
	for range maxAudit {
		s = and(t, s, Change{By: "job", Do: DoPurge, Target: "60s"})
	}
	step := and(t, s, Change{By: ByAutopilot, Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2h"}})
	for name, s := range map[string]*Settings{"in force": s, "stored": decoded(t, s), "stored, with a step of the autopilot": decoded(t, step), "restored": (&Settings{}).merge(s)} {
		if at := byHand(s); !at.Equal(nine) {
			t.Errorf("%s: changed by hand at %v", name, at)
		}
	}
}

// TestAChangeThatExpectsAnother is refused if the target was changed since.
func TestAChangeThatExpectsAnother(t *testing.T) {
	s := after(t, Change{By: "op", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1h"}})
	for at, want := range map[time.Time]error{nine: nil, {}: ErrOvertaken, nine.Add(-time.Hour): ErrOvertaken} {
		if _, err := s.With(Change{By: ByAutopilot, Do: DoCache, Target: "ip", Expected: &at}, nine); !errors.Is(err, want) {
			t.Errorf("%v: %v", at, err)
		}
	}
	never := time.Time{}
	if _, err := s.With(Change{By: ByAutopilot, Do: DoCache, Target: "60s", Expected: &never}, nine); err != nil {
		t.Error(err)
	}
}

// TestAnOperatorsPendingChangeWinsOverTheAutopilot: that has stepped elsewhere meanwhile.
func TestAnOperatorsPendingChangeWinsOverTheAutopilot(t *testing.T) {
	step := Change{By: ByAutopilot, Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2h"}}
	byHand := pendingChange{Change: Change{By: "op", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "5m"}}, At: nine.Add(-time.Hour), waited: true}
	s, err := after(t, step).withPending([]pendingChange{byHand})
	if err != nil || s.Cache["ip"].Values["ttl"] != "5m" {
		t.Errorf("%+v %v", s, err)
	}
}
