package live

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// set is a change of single cache settings.
func set(name, value string, lasts time.Duration) Change {
	return Change{By: "op", Do: DoCache, Target: "ip", Set: map[string]string{name: value}, For: lasts}
}

// undone returns the settings after a change was undone, a day after nine.
func undone(t *testing.T, s *Settings, seq int64) (*Settings, error) {
	t.Helper()
	now := nine.Add(24 * time.Hour)
	c, err := s.Undo(strconv.FormatInt(seq, 10), "me", now)
	if err != nil {
		return nil, err
	}
	next, err := s.With(c, now)
	if err != nil {
		t.Fatal(err)
	}
	return next, nil
}

// TestUndoAffectsOnlyItsOwnKeys: what others have changed since remains, with its expiry.
func TestUndoAffectsOnlyItsOwnKeys(t *testing.T) {
	const week = 7 * 24 * time.Hour
	reset := Change{By: "op", Do: DoCache, Target: "ip"}
	for name, row := range map[string]struct {
		changes []Change
		seq     int64
		want    map[string]string
		until   time.Time
	}{
		"another key was set since":             {[]Change{set("ttl", "1h", 0), set("grace", "1d", 0)}, 1, map[string]string{"grace": "1d"}, time.Time{}},
		"another key, for a time":               {[]Change{set("ttl", "1h", 0), set("grace", "1d", week)}, 1, map[string]string{"grace": "1d"}, nine.Add(week + time.Minute)},
		"back to a value, beside another key":   {[]Change{set("ttl", "1h", 0), set("ttl", "2h", 0), set("grace", "1d", 0)}, 2, map[string]string{"ttl": "1h", "grace": "1d"}, time.Time{}},
		"a key that was removed":                {[]Change{set("ttl", "1h", 0), set("ttl", "", 0), set("grace", "1d", 0)}, 2, map[string]string{"ttl": "1h", "grace": "1d"}, time.Time{}},
		"a reset":                               {[]Change{set("ttl", "1h", 0), set("grace", "1d", 0), reset, set("poll", "1m", 0)}, 3, map[string]string{"ttl": "1h", "grace": "1d", "poll": "1m"}, time.Time{}},
		"another endpoint":                      {[]Change{set("ttl", "1h", 0), {Do: DoCache, Target: "60s", Set: map[string]string{"ttl": "1m"}}}, 1, nil, time.Time{}},
		"what was set for a time":               {[]Change{set("ttl", "1h", 0), set("grace", "1d", week)}, 2, map[string]string{"ttl": "1h"}, time.Time{}},
		"back to what expires":                  {[]Change{set("ttl", "1h", week), set("ttl", "2h", 0)}, 2, map[string]string{"ttl": "1h"}, nine.Add(week)},
		"the expiry alone":                      {[]Change{set("ttl", "1h", week), set("ttl", "1h", 0)}, 2, map[string]string{"ttl": "1h"}, nine.Add(week)},
		"what has expired":                      {[]Change{set("ttl", "1h", 0), set("grace", "1d", time.Hour)}, 2, map[string]string{"ttl": "1h"}, time.Time{}},
		"set anew after the others had expired": {[]Change{set("poll", "1m", time.Second), set("ttl", "1h", 0), set("poll", "2m", 0)}, 2, map[string]string{"poll": "2m"}, time.Time{}},
		"all at once, as the autopilot does":    {[]Change{set("grace", "1d", 0), {By: ByAutopilot, Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2h", "grace": "1d"}}}, 1, map[string]string{"ttl": "2h"}, time.Time{}},
	} {
		next, err := undone(t, after(t, row.changes...), row.seq)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(row.want, next.Cache["ip"].Values); diff != "" || !next.Cache["ip"].Until.Equal(row.until) {
			t.Errorf("%s: until %v, want %v\n%s", name, next.Cache["ip"].Until, row.until, diff)
		}
	}
}

// TestUndoOfWhatWasChangedSince is refused, also if the value is the same again.
func TestUndoOfWhatWasChangedSince(t *testing.T) {
	hold := func(force string) Change { return Change{Do: DoBreaker, Target: "h", Force: force} }
	for name, row := range map[string]struct {
		changes []Change
		seq     int64
	}{
		"the same key":                  {[]Change{set("ttl", "1h", 0), set("ttl", "2h", 0)}, 1},
		"the same key, and back":        {[]Change{set("ttl", "1h", 0), set("ttl", "2h", 0), set("ttl", "1h", 0)}, 1},
		"the same value once more":      {[]Change{set("ttl", "1h", 0), set("ttl", "1h", 0)}, 1},
		"one of two keys":               {[]Change{{Do: DoCache, Target: "ip", Set: map[string]string{"ttl": "1h", "grace": "1d"}}, set("grace", "2d", 0)}, 1},
		"a reset":                       {[]Change{set("ttl", "1h", 0), {Do: DoCache, Target: "ip"}}, 1},
		"undone already":                {[]Change{set("ttl", "1h", 0), {Do: DoCache, Target: "ip", Undoes: 1}}, 1},
		"by the autopilot":              {[]Change{set("ttl", "1h", 0), {By: ByAutopilot, Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2h"}}}, 1},
		"a hold":                        {[]Change{hold("open"), hold("closed")}, 1},
		"a hold that was released":      {[]Change{hold("open"), hold("auto")}, 1},
		"a hold that was made the same": {[]Change{hold("open"), hold("open")}, 1},
	} {
		if next, err := undone(t, after(t, row.changes...), row.seq); !errors.Is(err, ErrChangedSince) {
			t.Errorf("%s: %+v %v", name, next, err)
		}
	}
}

// TestSingleSettingsMeetOthers: of two operators on two instances, each keeps what he has set.
func TestSingleSettingsMeetOthers(t *testing.T) {
	pending := pendingChange{Change: set("grace", "1d", 0), At: nine.Add(time.Hour)}
	next, err := after(t, set("ttl", "1h", 0)).withPending([]pendingChange{pending})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"ttl": "1h", "grace": "1d"}, next.Cache["ip"].Values); diff != "" {
		t.Error(diff)
	}
}

// TestSingleSettingsCoverTheirOwnKeys alone, where too many changes are pending.
func TestSingleSettingsCoverTheirOwnKeys(t *testing.T) {
	all := Change{Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1h"}}
	for _, row := range []struct {
		by, of Change
		want   bool
	}{
		{set("grace", "1d", 0), set("ttl", "1h", 0), false}, {set("ttl", "2h", 0), set("ttl", "1h", 0), true},
		{all, set("grace", "1d", 0), true}, {set("grace", "1d", 0), all, false}, {all, all, true},
	} {
		by, of := pendingChange{Change: row.by, At: nine}, pendingChange{Change: row.of, At: nine}
		by.ID, of.ID = "by", "of"
		if by.covers(&of) != row.want {
			t.Errorf("%+v covers %+v: %v", row.by, row.of, !row.want)
		}
	}
}

// TestUndoByID: two changes have a number, as when one was pending and the other one was stored first. Each is undone by its ID.
func TestUndoByID(t *testing.T) {
	s := &Settings{}
	for i, c := range []Change{{ID: "A", Target: "ip"}, {ID: "B", Target: "kd"}} {
		c.By, c.Do, c.Set = "op", DoCache, map[string]string{"ttl": "1m"}
		other, err := (&Settings{}).With(c, nine.Add(time.Duration(i)*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		s = s.merge(other)
	}
	if _, err := s.Undo("1", "me", nine.Add(time.Minute)); err == nil {
		t.Error("a number of two changes was undone")
	}
	for id, target := range map[string]string{"A": "ip", "B": "kd"} {
		if c, err := s.Undo(id, "me", nine.Add(time.Minute)); err != nil || c.Target != target || c.Undoes != 1 {
			t.Errorf("%s: %+v, %v", id, c, err)
		}
	}
}
