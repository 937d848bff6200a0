package waybill

import (
	"slices"
	"time"
)

// Event is one line of a parcel's trail.
type Event struct {
	Time  time.Time // zero when it is unknown
	Text  string
	Place string // empty when it is not told apart from the text
}

// Sort gives the events newest first, those without a time last, and of events
// with the same time and text only the first. It leaves its argument alone.
//
// Events of one time keep the order of the trail: when most neighbours in it go
// from old to new, it is taken to be written that way throughout, and turned
// round; else, and when all times are equal, it is taken to be newest first.
func Sort(events []Event) []Event {
	sorted := slices.Clone(events)
	if ascending(sorted) {
		slices.Reverse(sorted)
	}
	slices.SortStableFunc(sorted, func(a, b Event) int { return b.Time.Compare(a.Time) })
	type line struct {
		at   time.Time
		text string
	}
	seen := make(map[line]bool, len(sorted))
	return slices.DeleteFunc(sorted, func(e Event) bool {
		l := line{e.Time.Round(0).UTC(), e.Text} // == compares zones and clocks too
		known := seen[l]
		seen[l] = true
		return known
	})
}

func ascending(events []Event) bool {
	balance := 0
	for i := 1; i < len(events); i++ {
		if !events[i].Time.IsZero() && !events[i-1].Time.IsZero() {
			balance += events[i].Time.Compare(events[i-1].Time)
		}
	}
	return balance > 0
}
