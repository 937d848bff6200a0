package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/cache/policy"
)

// and makes more changes of settings, an hour after nine and later.
func and(t *testing.T, s *Settings, changes ...Change) *Settings {
	t.Helper()
	for i, c := range changes {
		next, err := s.With(c, nine.Add(time.Hour+time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	return s
}

// encoded is settings as they are stored, and decoded as another instance reads them.
func encoded(t *testing.T, s *Settings) []byte {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func decoded(t *testing.T, s *Settings) *Settings {
	t.Helper()
	back, err := parse(encoded(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func many(t *testing.T, n int) *Settings {
	t.Helper()
	s := &Settings{}
	for range n {
		s = and(t, s, Change{Do: "purge", Target: "ip"})
	}
	return s
}

func TestStoredSettingsAreCompared(t *testing.T) {
	base := after(t, ttl("1h", 0), ttl("2h", 0))
	edited := decoded(t, base)
	edited.Cache["ip"].Values["ttl"] = "9h"
	for name, row := range map[string]struct {
		have, stored *Settings
		want         relation
	}{
		"nothing anywhere":                       {&Settings{}, nil, same},
		"an instance that starts":                {&Settings{}, base, advanced},
		"the same":                               {base, decoded(t, base), same},
		"a change made since":                    {base, and(t, base, ttl("3h", 0)), advanced},
		"none, though there were":                {base, nil, emptied},
		"a backup":                               {and(t, base, ttl("3h", 0)), base, rolledBack},
		"the same number, another history":       {and(t, base, ttl("3h", 0)), and(t, base, Change{Do: "reset", Target: "h"}), rolledBack},
		"a higher number, another history":       {and(t, base, ttl("3h", 0)), and(t, base, Change{Do: "reset", Target: "h"}, ttl("5h", 0)), rolledBack},
		"edited by hand":                         {base, edited, rolledBack},
		"a history that is not in the audit log": {many(t, 3), many(t, 3+maxAudit), advanced},
		"another history, all in the audit log":  {base, many(t, maxAudit), rolledBack},
	} {
		if got := row.have.relate(row.stored); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
	}
}

// TestMergedSettings: of two histories the later change of each target wins, and
// no purge or order is lost.
func TestMergedSettings(t *testing.T) {
	base := after(t, ttl("1h", 0), Change{Do: "drop", Target: "ip", Key: "ip:0"})
	have := and(t, base, ttl("2h", 0), Change{Do: "purge", Target: "ip", Hard: true}, Change{Do: "drop", Target: "ip", Key: "ip:1"})
	stored := decoded(t, and(t, and(t, base), Change{Do: "breaker", Target: "h", Force: "open"}, Change{Do: "purge", Target: "ip"},
		Change{Do: "purge", Target: "60s", Hard: true}, Change{Do: "drop", Target: "ip", Key: "ip:2"}, ttl("5h", 0)))
	next := have.merge(stored, nine.Add(2*time.Hour))
	if next.Seq != 8 || next.lastRecord().Do != "restore" || next.lastRecord().Note == "" {
		t.Errorf("%d, %+v", next.Seq, next.lastRecord())
	}
	if got := next.ActiveCache(nine)["ip"]["ttl"]; got != "5h" || next.Breakers["h"].Force != "open" {
		t.Errorf("ttl %s, breakers %v: the later change of each wins", got, next.Breakers)
	}
	hour := func(m int) time.Time { return nine.Add(time.Hour + time.Duration(m)*time.Minute) }
	if diff := cmp.Diff(map[string]policy.Purge{"ip": {Soft: hour(1), Hard: hour(1)}, "60s": {Hard: hour(2)}}, next.purgesSince(time.Time{})); diff != "" {
		t.Error(diff)
	}
	keys := map[string]int64{}
	for _, o := range next.Orders {
		keys[o.Key] = o.Seq
	}
	if diff := cmp.Diff(map[string]int64{"ip:0": 2, "ip:1": 8, "ip:2": 8}, keys); diff != "" {
		t.Errorf("orders that one history lacks are given again: %s", diff)
	}
	for name, history := range map[string]*Settings{"in force": have, "stored": stored} {
		if v := history.relate(decoded(t, next)); v != advanced {
			t.Errorf("who followed what was %s does not follow the merged settings: %d", name, v)
		}
	}
	if len(have.Audit) != 5 || have.Cache["ip"].Values["ttl"] != "2h" {
		t.Error("the settings in force were changed")
	}
	if _, err := next.Undo(3, "me", nine); err == nil {
		t.Error("one of two changes of the same number was undone")
	}
}

func TestMergingABackupChangesNothing(t *testing.T) {
	base := after(t, ttl("1h", 0), Change{Do: "breaker", Target: "h", Force: "open"})
	have := and(t, base, ttl("2h", 0), Change{Do: "breaker", Target: "h", Force: "auto"}, Change{Do: "drop", Target: "ip", Key: "ip:1"})
	next := have.merge(decoded(t, base), nine.Add(2*time.Hour))
	if got := next.ActiveCache(nine)["ip"]["ttl"]; got != "2h" || len(next.Breakers) != 0 || len(next.Orders) != 1 || len(next.Audit) != 6 {
		t.Errorf("%+v", next)
	}
}
