package advise

import (
	"math"
	"time"
)

// Edition is the time of the day at which a content changes each day: a policy with until
// would need one call a day.
type Edition struct {
	// From and To are when the last one came, as exactly as all of them together tell; the
	// time of the day is that of whichever zone they are read in.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

const (
	// fewestEditions are the changes that it takes, each on another day.
	fewestEditions = 7
	// onMost is the share of days that have one: at weekends there may be none.
	onMost = 0.6
	// luck is how likely it may be at most that changes at random look like it.
	luck = 1e-3
)

// edition is where all intervals of changes meet modulo a day; nil: nowhere, or that may be
// by chance.
func (past *Past) edition() *Edition {
	var low, high, first, last, latest int64
	days, chance := map[int64]bool{}, 1.0
	for _, c := range past.courses {
		for i := range c.spans {
			s := &c.spans[i]
			if s.found != Changed || s.to-s.from >= day/2 {
				continue
			}
			if len(days) == 0 {
				low, high, first, last = s.from, s.to, s.to, s.to
			}
			// The interval, on the day on which it lies next to the first one.
			from := s.from - int64(math.Round(float64(s.from-low)/day))*day
			if low, high = max(low, from), min(high, from+s.to-s.from); low >= high {
				return nil
			}
			latest = max(latest, s.to)
			first, last = min(first, s.to), max(last, s.to)
			if n := (s.from - low + day/2) / day; !days[n] {
				days[n] = true
				chance *= float64(s.to-s.from) / day
			}
		}
	}
	n := float64(len(days))
	if len(days) < fewestEditions || n < onMost*float64((last-first)/day+1) || n*chance/(float64(high-low)/day) > luck {
		return nil
	}
	on := (latest - low) / day * day
	return &Edition{time.UnixMilli(low + on).UTC(), time.UnixMilli(high + on).UTC()}
}
