package policy

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseCalendarRefuses(t *testing.T) {
	for _, text := range []string{"", "06:00", "Asia/Shanghai", "25:00 Asia/Shanghai", "6 Asia/Shanghai", "06:00 Atlantis/Sunken", "06:60 UTC"} {
		if c, err := ParseCalendar(text); err == nil {
			t.Errorf("%q: accepted as %v", text, c)
		}
	}
}

func calendar(t testing.TB, text string) *Calendar {
	t.Helper()
	c, err := ParseCalendar(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCalendar(t *testing.T) {
	rows := []struct{ calendar, at, last, next string }{
		{"06:00 Asia/Shanghai", "2026-11-21T05:59:59+08:00", "2026-11-20T06:00:00+08:00", "2026-11-21T06:00:00+08:00"},
		{"06:00 Asia/Shanghai", "2026-11-21T06:00:00+08:00", "2026-11-21T06:00:00+08:00", "2026-11-22T06:00:00+08:00"},
		{"00:00 Asia/Shanghai", "2026-11-20T16:00:00Z", "2026-11-21T00:00:00+08:00", "2026-11-22T00:00:00+08:00"},
		{"21:00 07:00 11:30 Asia/Shanghai", "2026-11-21T12:00:00+08:00", "2026-11-21T11:30:00+08:00", "2026-11-21T21:00:00+08:00"},
		{"21:00 07:00 11:30 Asia/Shanghai", "2026-11-21T22:00:00+08:00", "2026-11-21T21:00:00+08:00", "2026-11-22T07:00:00+08:00"},
		{"00:00 UTC", "2028-02-28T12:00:00Z", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"00:00 UTC", "2026-12-31T23:59:59Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
		// The night the clocks go forward has no 02:30: it is due when they do, after what is due at 01:45.
		{"02:30 America/New_York", "2026-03-08T01:00:00-05:00", "2026-03-07T02:30:00-05:00", "2026-03-08T03:00:00-04:00"},
		{"01:45 02:30 America/New_York", "2026-03-08T01:00:00-05:00", "2026-03-07T02:30:00-05:00", "2026-03-08T01:45:00-05:00"},
		{"01:45 02:30 America/New_York", "2026-03-08T01:45:00-05:00", "2026-03-08T01:45:00-05:00", "2026-03-08T03:00:00-04:00"},
		// The night they go back has 01:30 twice: the first counts.
		{"01:30 America/New_York", "2026-11-01T01:30:00-05:00", "2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"},
		// Days that begin at 01:00.
		{"00:00 America/Sao_Paulo", "2018-11-03T23:30:00-03:00", "2018-11-03T00:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		{"00:00 Asia/Beirut", "2022-03-27T01:00:00+03:00", "2022-03-27T01:00:00+03:00", "2022-03-28T00:00:00+03:00"},
		{"00:00 Africa/Cairo", "2023-04-27T23:59:59+02:00", "2023-04-27T00:00:00+02:00", "2023-04-28T01:00:00+03:00"},
		{"00:00 America/Havana", "2026-03-07T23:59:59-05:00", "2026-03-07T00:00:00-05:00", "2026-03-08T01:00:00-04:00"},
		// A day that the zone skipped.
		{"06:00 Pacific/Apia", "2011-12-29T06:00:00-10:00", "2011-12-29T06:00:00-10:00", "2011-12-31T06:00:00+14:00"},
		{"06:00 Asia/Shanghai", "0001-01-01T00:00:00Z", "0000-12-31T21:54:17Z", "0001-01-01T21:54:17Z"},
		{"00:00 Asia/Tokyo", "9999-12-30T23:59:59Z", "9999-12-30T15:00:00Z", "9999-12-31T15:00:00Z"},
		{"06:00 America/New_York", "2026-11-01T00:30:00-04:00", "2026-10-31T06:00:00-04:00", "2026-11-01T06:00:00-05:00"},
	}
	for _, r := range rows {
		c := calendar(t, r.calendar)
		at, last, next := instant(t, r.at), instant(t, r.last), instant(t, r.next)
		if got := c.Last(at); !got.Equal(last) {
			t.Errorf("%s at %s: last %v, want %v", r.calendar, r.at, got, last)
		}
		if got := c.Next(at); !got.Equal(next) {
			t.Errorf("%s at %s: next %v, want %v", r.calendar, r.at, got, next)
		}
	}
}

// inChina is a time there, to the minute.
func inChina(t *testing.T, s string) time.Time {
	t.Helper()
	return instant(t, strings.Replace(s, " ", "T", 1)+":00+08:00")
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// changes are the instants at which the zone's clocks were put forward or back.
func changes(zone *time.Location) []time.Time {
	var all []time.Time
	for t := time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.Year() > 2040 {
			return all
		}
		if !end.After(t) {
			end = t.Add(24 * time.Hour) // see first
		}
		all = append(all, end)
		t = end
	}
}

// due computes the publications the slow way, for offsets of whole minutes: the
// first minute at which clocks show the time or a later one, of the days that exist.
func due(zone *time.Location, from, to time.Time, times []clock) []int64 {
	type minute struct{ unix, local int64 }
	var walk []minute
	days := map[int64]bool{}
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		_, offset := t.In(zone).Zone()
		walk = append(walk, minute{t.Unix(), t.Unix() + int64(offset)})
		days[dayOf(t.Unix()+int64(offset))] = true
	}
	var all []int64
	next := 0
	for _, date := range slices.Sorted(maps.Keys(days)) {
		for _, at := range times {
			for next < len(walk) && walk[next].local < date*day+int64(at)*60 {
				next++
			}
			if next < len(walk) {
				all = append(all, walk[next].unix)
			}
		}
	}
	return slices.Compact(all)
}

// TestCalendarAtEveryChangeOfClocks walks through the days around each change:
// there is a publication for every day and time, in order, and looking forward
// from before one and back from any time after it find the same.
func TestCalendarAtEveryChangeOfClocks(t *testing.T) {
	zones := []string{
		"America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "America/Havana", "America/Asuncion", "America/Santiago", "Asia/Amman", "Asia/Damascus", "Asia/Gaza",
		"Asia/Tehran", "Atlantic/Azores", "America/Scoresbysund", "America/St_Johns", "Australia/Lord_Howe", "Antarctica/Troll", "Europe/London", "Europe/Dublin", "Africa/Casablanca",
		"America/New_York", "Pacific/Apia", "Pacific/Kwajalein", "Pacific/Kiritimati", "Asia/Shanghai", "Asia/Pyongyang", "Asia/Kathmandu", "America/Juneau", "Asia/Manila", "UTC",
	}
	for _, name := range zones {
		for _, times := range []string{"00:00", "00:30 02:10 02:40 23:59"} {
			c := calendar(t, times+" "+name)
			all := changes(c.Zone)
			for i, change := range all {
				if i%8 != 0 && (change.Year() < 2005 || change.Year() > 2026) {
					continue // rules that come again and again
				}
				around(t, c, change, i%11 == 0 && change.Year() > 1972)
			}
			for _, far := range []time.Time{{}, time.Date(1, 1, 1, 0, 0, 0, 1, c.Zone), time.Date(9999, 12, 31, 23, 59, 59, 0, c.Zone), time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
				around(t, c, far, false)
			}
		}
	}
}

// around checks the days before and after; slowly compares with due.
func around(t *testing.T, c *Calendar, middle time.Time, slowly bool) {
	t.Helper()
	from, to := middle.Add(-52*time.Hour), middle.Add(52*time.Hour)
	var found []int64
	for p := c.Next(from.Add(-time.Nanosecond)); p.Before(to); {
		next := c.Next(p)
		if !next.After(p) || next.Sub(p) > 50*time.Hour {
			t.Fatalf("%s %v: after %v comes %v", c.Zone, c.times, p, next)
		}
		for _, at := range []time.Time{p, p.Add(time.Nanosecond), p.Add(next.Sub(p) / 2), next.Add(-time.Nanosecond)} {
			if last, n := c.Last(at), c.Next(at); !last.Equal(p) || !n.Equal(next) || !c.Next(last.Add(-time.Nanosecond)).Equal(last) {
				t.Fatalf("%s %v at %v: last %v, next %v; want %v, %v", c.Zone, c.times, at, last, n, p, next)
			}
		}
		found = append(found, p.Unix())
		p = next
	}
	if !slowly {
		return
	}
	want := due(c.Zone, from.Add(-48*time.Hour).Truncate(time.Minute), to.Add(48*time.Hour), c.times)
	want = slices.DeleteFunc(want, func(u int64) bool { return u < from.Unix() || u >= to.Unix() })
	if !slices.Equal(found, want) {
		t.Errorf("%s %v around %v: %v, want %v", c.Zone, c.times, middle, found, want)
	}
}

func BenchmarkCalendar(b *testing.B) {
	for _, text := range []string{"06:00 Asia/Shanghai", "07:00 11:30 21:00 Asia/Shanghai", "06:00 America/New_York"} {
		b.Run(text, func(b *testing.B) {
			c := calendar(b, text)
			at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				c.Last(at)
				c.Next(at)
			}
		})
	}
}
