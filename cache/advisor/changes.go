package advisor

import (
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
)

// Changes is the model of the content for simulations, by the estimate: the zero value
// where nobody knows. Of a content of which no change was seen, it is the most frequent
// change that is likely.
func (a *Advice) Changes() whatif.Changes {
	c := &a.Change
	rate, known := c.rate()
	switch {
	case !known || rate <= 0:
		return whatif.Changes{}
	case c.Kind != Periodic:
		return whatif.Random(readable(time.Duration(1e9 / rate)))
	case c.daily().n > 0:
		if at, err := cache.ParseCalendar(c.At() + " " + zoneName(a.Prediction.zone())); err == nil {
			return whatif.Timetable(at)
		}
	}
	return whatif.Regular(c.Interval)
}

// readable is an estimate without the digits that say nothing.
func readable(d time.Duration) time.Duration {
	if d < time.Minute {
		return d
	}
	return d.Round(time.Second)
}

// zoneName is the name of a zone that can be loaded again.
func zoneName(zone *time.Location) string {
	if name := zone.String(); name != "" && name != "Local" {
		return name
	}
	return time.UTC.String()
}
