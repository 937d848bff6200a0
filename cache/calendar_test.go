package cache

import (
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

func TestCalendar(t *testing.T) {
	rows := []struct{ calendar, at, last, next string }{
		{"06:00 Asia/Shanghai", "2026-11-21T05:59:59+08:00", "2026-11-20T06:00:00+08:00", "2026-11-21T06:00:00+08:00"},
		{"06:00 Asia/Shanghai", "2026-11-21T06:00:00+08:00", "2026-11-21T06:00:00+08:00", "2026-11-22T06:00:00+08:00"},
		{"00:00 Asia/Shanghai", "2026-11-20T16:00:00Z", "2026-11-21T00:00:00+08:00", "2026-11-22T00:00:00+08:00"},
		{"21:00 07:00 11:30 Asia/Shanghai", "2026-11-21T12:00:00+08:00", "2026-11-21T11:30:00+08:00", "2026-11-21T21:00:00+08:00"},
		{"21:00 07:00 11:30 Asia/Shanghai", "2026-11-21T22:00:00+08:00", "2026-11-21T21:00:00+08:00", "2026-11-22T07:00:00+08:00"},
		{"00:00 UTC", "2028-02-28T12:00:00Z", "2028-02-28T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"00:00 UTC", "2026-12-31T23:59:59Z", "2026-12-31T00:00:00Z", "2027-01-01T00:00:00Z"},
		// The night the clocks go forward has no 02:30; time.Date takes the hour before.
		{"02:30 America/New_York", "2026-03-08T01:00:00-05:00", "2026-03-07T02:30:00-05:00", "2026-03-08T01:30:00-05:00"},
		{"06:00 America/New_York", "2026-11-01T00:30:00-04:00", "2026-10-31T06:00:00-04:00", "2026-11-01T06:00:00-05:00"},
	}
	for _, r := range rows {
		c, err := ParseCalendar(r.calendar)
		if err != nil {
			t.Fatal(err)
		}
		at, last, next := instant(t, r.at), instant(t, r.last), instant(t, r.next)
		if got := c.Last(at); !got.Equal(last) {
			t.Errorf("%s at %s: last %v, want %v", r.calendar, r.at, got, last)
		}
		if got := c.Next(at); !got.Equal(next) {
			t.Errorf("%s at %s: next %v, want %v", r.calendar, r.at, got, next)
		}
	}
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
