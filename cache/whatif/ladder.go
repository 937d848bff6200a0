package whatif

import (
	"slices"
	"strings"
	"time"
)

const day = 24 * time.Hour

// steps are the lengths of time that people choose from.
func steps() []time.Duration {
	return []time.Duration{
		time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		day, 2 * day, 3 * day, 7 * day, 14 * day, 30 * day, 60 * day, 90 * day, 180 * day, 365 * day,
	}
}

// Ladder is a few lengths of time around one, which is not among them: up to below
// shorter and up to above longer ones, in rising order.
func Ladder(around time.Duration, below, above int) []time.Duration {
	all := steps()
	at, found := slices.BinarySearch(all, around)
	from := at
	if found {
		from++
	}
	return slices.Concat(all[max(0, at-below):at], all[from:min(len(all), from+above)])
}

// Duration formats a length of time as people write it: 1m30s, 6h, 7d.
func Duration(d time.Duration) string {
	if d >= 2*day && d%day == 0 {
		return strings.TrimSuffix((d/24).String(), "h0m0s") + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
