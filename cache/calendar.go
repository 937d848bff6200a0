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
	plain, offset := c.plain(t)
	today := dayOf(t.Unix() + offset)
	for date := today + outset(plain); date > today-horizon; date-- {
		for _, at := range slices.Backward(c.times) {
			if p, ok := c.on(date, at, plain, offset); ok && p <= t.Unix() {
				return time.Unix(p, 0).In(c.Zone)
			}
		}
	}
	return t // no zone has lost so many days
}

// Next is the first publication after t.
func (c *Calendar) Next(t time.Time) time.Time {
	plain, offset := c.plain(t)
	today := dayOf(t.Unix() + offset)
	for date := today - outset(plain); date < today+horizon; date++ {
		for _, at := range c.times {
			if p, ok := c.on(date, at, plain, offset); ok && p > t.Unix() {
				return time.Unix(p, 0).In(c.Zone)
			}
		}
	}
	return t.Add(day * time.Second)
}

const (
	// day is one in seconds.
	day = 24 * 60 * 60
	// reach is how many days a change of the clocks may put a publication away
	// from its place in the calendar, with one to spare: some zones crossed the
	// date line.
	reach = 2
	// horizon bounds the days that are looked at.
	horizon = 2*reach + 3
	// farthest is past every distance between a zone's time and UTC, and any two
	// times of one zone.
	farthest = 30 * 60 * 60
)

// outset is the day, counted from t's, beyond which nothing has to be looked at.
func outset(plain bool) int64 {
	if plain {
		return 0
	}
	return reach
}

// dayOf counts days of the calendar from 1970-01-01.
func dayOf(local int64) int64 {
	if local < 0 {
		return (local+1)/day - 1
	}
	return local / day
}

// plain tells that no clock is changed within reach of t: then every day is as
// long as another, and the offset is everything there is to know of the zone.
func (c *Calendar) plain(t time.Time) (plain bool, offset int64) {
	local := t.In(c.Zone)
	_, seconds := local.Zone()
	start, end := local.ZoneBounds()
	const margin = (horizon + 1) * day * time.Second
	return (start.IsZero() || t.Sub(start) > margin) && (end.IsZero() || end.Sub(t) > margin), int64(seconds)
}

// on is the instant of a time of day on a day: when clocks first show it, or, if
// they are put forward past it, when they are. So the publications of a day keep
// their order, and each comes once, though clocks may show its time twice. There
// is none on a day that the zone leaves out.
func (c *Calendar) on(date int64, at clock, plain bool, offset int64) (unix int64, ok bool) {
	midnight := date * day
	if plain {
		return midnight + int64(at)*60 - offset, true
	}
	begin := c.first(midnight)
	_, seconds := time.Unix(begin, 0).In(c.Zone).Zone()
	return c.first(midnight + int64(at)*60), dayOf(begin+int64(seconds)) == date
}

// first is when the zone's clocks first show that time or a later one.
func (c *Calendar) first(local int64) int64 {
	from := time.Unix(local-farthest, 0).In(c.Zone)
	for {
		_, offset := from.Zone()
		_, end := from.ZoneBounds()
		if !end.IsZero() && !end.After(from) {
			// On the last day of a leap year past its table, package time takes
			// the day's beginning for the end of the year.
			end = from.Add(time.Hour)
		}
		unix := max(from.Unix(), local-int64(offset))
		if end.IsZero() || unix < end.Unix() {
			return unix
		}
		from = end
	}
}

// Equal tells whether two timetables are the same; two nil ones are.
func (c *Calendar) Equal(o *Calendar) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.Zone.String() == o.Zone.String() && slices.Equal(c.times, o.times)
}
