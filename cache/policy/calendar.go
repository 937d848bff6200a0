package policy

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
		return nil, fmt.Errorf(`calendar %q: expected times of day and a zone, as in "06:00 Asia/Shanghai"`, text)
	}
	zone, err := time.LoadLocation(fields[len(fields)-1])
	if err != nil {
		return nil, fmt.Errorf("calendar %q: zone: %w", text, err)
	}
	c := &Calendar{Zone: zone}
	for _, f := range fields[:len(fields)-1] {
		t, err := time.Parse("15:04", f)
		if err != nil {
			return nil, fmt.Errorf("calendar %q: time of day %q: expected HH:MM", text, f)
		}
		c.times = append(c.times, clock(t.Hour()*60+t.Minute()))
	}
	slices.Sort(c.times)
	return c, nil
}

// Last is the newest publication at or before t.
func (c *Calendar) Last(t time.Time) time.Time {
	constant, offset := c.zoneOffset(t)
	today := dayOf(t.Unix() + offset)
	for date := today + searchMargin(constant); date > today-horizon; date-- {
		for _, at := range slices.Backward(c.times) {
			if p, ok := c.publication(date, at, constant, offset); ok && p <= t.Unix() {
				return time.Unix(p, 0).In(c.Zone)
			}
		}
	}
	return t // not reached: no zone has skipped so many days
}

// Next is the first publication after t.
func (c *Calendar) Next(t time.Time) time.Time {
	constant, offset := c.zoneOffset(t)
	today := dayOf(t.Unix() + offset)
	for date := today - searchMargin(constant); date < today+horizon; date++ {
		for _, at := range c.times {
			if p, ok := c.publication(date, at, constant, offset); ok && p > t.Unix() {
				return time.Unix(p, 0).In(c.Zone)
			}
		}
	}
	return t.Add(day * time.Second)
}

const (
	// day is the length of a day in seconds.
	day = 24 * 60 * 60
	// changeReach is how many days a change of the clocks may move a publication,
	// with one to spare: some zones crossed the date line.
	changeReach = 2
	// horizon bounds the days that are searched.
	horizon = 2*changeReach + 3
	// maxOffset is larger than any zone's offset from UTC, and than any change of
	// one.
	maxOffset = 30 * 60 * 60
)

// searchMargin is how many days around t are searched as well.
func searchMargin(constant bool) int64 {
	if constant {
		return 0
	}
	return changeReach
}

// dayOf counts days of the calendar from 1970-01-01.
func dayOf(local int64) int64 {
	if local < 0 {
		return (local+1)/day - 1
	}
	return local / day
}

// zoneOffset returns the zone's offset from UTC at t in seconds, and whether that
// is constant around t: then all days there have the same length.
func (c *Calendar) zoneOffset(t time.Time) (constant bool, offset int64) {
	local := t.In(c.Zone)
	_, seconds := local.Zone()
	start, end := local.ZoneBounds()
	const margin = (horizon + 1) * day * time.Second
	return (start.IsZero() || t.Sub(start) > margin) && (end.IsZero() || end.Sub(t) > margin), int64(seconds)
}

// publication is the instant of a time of day on a date: when clocks first show
// it, or, if they are put forward past it, when they are. So the publications of
// a day keep their order and each comes once, although clocks may show its time
// twice. There is none on a date that the zone skips.
func (c *Calendar) publication(date int64, at clock, constant bool, offset int64) (unix int64, ok bool) {
	midnight := date * day
	if constant {
		return midnight + int64(at)*60 - offset, true
	}
	begin := c.firstShown(midnight)
	_, seconds := time.Unix(begin, 0).In(c.Zone).Zone()
	return c.firstShown(midnight + int64(at)*60), dayOf(begin+int64(seconds)) == date
}

// firstShown is when the zone's clocks first show a local time or a later one.
func (c *Calendar) firstShown(local int64) int64 {
	from := time.Unix(local-maxOffset, 0).In(c.Zone)
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

// Equal reports whether two timetables are the same; two nil ones are.
func (c *Calendar) Equal(o *Calendar) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.Zone.String() == o.Zone.String() && slices.Equal(c.times, o.times)
}

// String is the timetable as ParseCalendar reads it.
func (c *Calendar) String() string {
	var b strings.Builder
	for _, t := range c.times {
		_, _ = fmt.Fprintf(&b, "%02d:%02d ", t/60, t%60) // a Builder takes everything
	}
	return b.String() + c.Zone.String()
}
