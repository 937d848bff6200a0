package cache

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Calendar is a daily timetable: the instants at which an endpoint's content
// is published anew.
type Calendar struct {
	Zone  *time.Location
	times []clock // ascending, at least one
}

// clock is a time of day in minutes, 0 to 1439.
type clock int

// ParseCalendar reads "06:00 Asia/Shanghai", or several times of day before
// one zone: "07:00 11:30 21:00 Asia/Shanghai".
func ParseCalendar(text string) (*Calendar, error) {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return nil, fmt.Errorf(`calendar %q: want times of day and a zone, as in "06:00 Asia/Shanghai"`, text)
	}
	zone, err := time.LoadLocation(fields[len(fields)-1])
	if err != nil {
		return nil, fmt.Errorf("calendar %q: zone: %w", text, err)
	}
	c := &Calendar{Zone: zone}
	for _, f := range fields[:len(fields)-1] {
		t, err := time.Parse("15:04", f)
		if err != nil {
			return nil, fmt.Errorf("calendar %q: time of day %q: want HH:MM", text, f)
		}
		c.times = append(c.times, clock(t.Hour()*60+t.Minute()))
	}
	slices.Sort(c.times)
	return c, nil
}

// Last is the newest publication at or before t.
func (c *Calendar) Last(t time.Time) time.Time {
	for day := 0; ; day-- {
		for _, at := range slices.Backward(c.times) {
			if p := c.on(t, day, at); !p.After(t) {
				return p
			}
		}
	}
}

// Next is the first publication after t.
func (c *Calendar) Next(t time.Time) time.Time {
	for day := 0; ; day++ {
		for _, at := range c.times {
			if p := c.on(t, day, at); p.After(t) {
				return p
			}
		}
	}
}

// on is the instant of a time of day, so many days from t's date in the zone.
// time.Date settles what a change to or from summer time makes of it.
func (c *Calendar) on(t time.Time, days int, at clock) time.Time {
	y, m, d := t.In(c.Zone).Date()
	return time.Date(y, m, d+days, int(at)/60, int(at)%60, 0, 0, c.Zone)
}

// Equal tells whether two timetables are the same; two nil ones are.
func (c *Calendar) Equal(o *Calendar) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.Zone.String() == o.Zone.String() && slices.Equal(c.times, o.times)
}
