package cache

import (
	"context"
	"testing"
	"time"
)

func TestLate(t *testing.T) {
	daily, err := ParseCalendar("00:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	thrice, err := ParseCalendar("07:00 12:00 19:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, daily.Zone)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for name, c := range map[string]struct {
		until *Calendar
		meta  Meta
		now   string
		want  time.Duration
	}{
		"no timetable":                  {nil, Meta{Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
		"today's":                       {daily, Meta{Edition: "2026-03-04"}, "2026-03-04 23:59", 0},
		"yesterday's, in the morning":   {daily, Meta{Edition: "2026-03-03"}, "2026-03-04 06:30", 6*time.Hour + 30*time.Minute},
		"two days old counts from then": {daily, Meta{Edition: "2026-03-02"}, "2026-03-04 06:00", 30 * time.Hour},
		"tomorrow's already":            {daily, Meta{Edition: "2026-03-05"}, "2026-03-04 23:00", 0},
		"a date holds the whole day":    {thrice, Meta{Edition: "2026-03-04", Modified: at("2026-03-04 07:10")}, "2026-03-04 20:00", 0},
		"not yet due":                   {thrice, Meta{Edition: "2026-03-03"}, "2026-03-04 06:59", 0},
		"due since seven":               {thrice, Meta{Edition: "2026-03-03"}, "2026-03-04 12:30", 5*time.Hour + 30*time.Minute},
		"undated, changed since":        {thrice, Meta{Modified: at("2026-03-04 12:01")}, "2026-03-04 18:00", 0},
		"undated, not changed":          {thrice, Meta{Modified: at("2026-03-04 11:00")}, "2026-03-04 13:00", time.Hour},
		"a no has no edition":           {daily, Meta{Negative: true, Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
	} {
		p := Policy{Until: c.until}
		if got := p.Late(&c.meta, at(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

type dated string

func (d dated) Load(context.Context, bool) (Content, error) {
	return Content{Source: "s", Edition: string(d), Forms: []Form{{{Status: 200, Data: [codings][]byte{[]byte("x")}}}}}, nil
}

func TestSpaceLate(t *testing.T) {
	c, err := New(Config{Memory: MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until, err := ParseCalendar("00:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Space("daily", Policy{Until: until, Poll: time.Minute, FillTimeout: time.Second})
	now := time.Now()
	if late := s.Late("daily:", now); late != 0 {
		t.Errorf("nothing cached, and %v late", late)
	}
	if _, err := s.Fetch(t.Context(), "daily:", Want{}, dated("2020-01-01")); err != nil {
		t.Fatal(err)
	}
	if late := s.Late("daily:", now); late < 6*365*24*time.Hour {
		t.Errorf("%v late", late)
	}
	if late := c.Space("plain", Policy{TTL: time.Hour}).Late("daily:", now); late != 0 {
		t.Errorf("no timetable, and %v late", late)
	}
}
