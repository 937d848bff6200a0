package advise

import (
	"cmp"
	"slices"
)

// Past is what was seen, ready to be replayed under any rule.
type Past struct {
	courses  []*course
	from, to int64
	changes  []float64 // that each mass of old answers rests on
	looked   float64   // milliseconds of the spans of which is known what was found
	evidence Evidence
	ofKeys   float64 // one of how many keys was seen
	lost     int64   // milliseconds of which nothing was noted, though something happened
}

// Past compiles what was seen since contents last began to change at another rate.
func (s *Seen) Past() *Past {
	slices.SortStableFunc(s.events, func(a, b event) int { return cmp.Compare(a.at, b.at) }) // clocks of several instances differ
	past := pastOf(s.events)
	if d := switched(past.days()); d > 0 {
		since := past.from + int64(d)*day
		i, _ := slices.BinarySearchFunc(s.events, since, func(e event, at int64) int { return cmp.Compare(e.time(), at) })
		past = pastOf(s.events[i:])
	}
	past.ofKeys = float64(uint64(1) << s.halved)
	return past
}

func pastOf(events []event) *Past {
	past := &Past{courses: coursesOf(events), evidence: evidenceOf(events), ofKeys: 1}
	if n := len(events); n > 0 {
		past.from, past.to = events[0].time(), events[n-1].time()+1
	}
	for _, c := range past.courses {
		past.weigh(c)
	}
	past.lost = lostOf(events, past.courses)
	return past
}

const (
	// leastLost is how long a time is at least that is taken for lost, and mostSilent how many
	// times the mean one between events.
	leastLost  = day / 24
	mostSilent = 20
)

// lostOf is how much of the time was not noted, as where a file of a log is missing: long
// times without an event, in which a copy was made all the same that was seen later.
func lostOf(events []event, courses []*course) (lost int64) {
	seen := map[int]bool{}
	for _, c := range courses {
		for _, at := range c.unseen {
			i, _ := slices.BinarySearchFunc(events, at, func(e event, at int64) int { return cmp.Compare(e.time(), at) })
			if i == 0 || i == len(events) || seen[i] {
				continue
			}
			seen[i] = true
			mean := (events[len(events)-1].time() - events[0].time()) / int64(len(events))
			if silent := events[i].time() - events[i-1].time(); silent > max(leastLost, mostSilent*mean) {
				lost += silent
			}
		}
	}
	return lost
}

// weigh gives each change a mass, and each key one for what rests on all of its changes.
func (past *Past) weigh(c *course) {
	changed, _ := c.counts()
	c.mass, past.changes = len(past.changes), append(past.changes, max(1, changed))
	for i := range c.spans {
		s := &c.spans[i]
		if s.mass = c.mass; s.found == Changed {
			s.mass, past.changes = len(past.changes), append(past.changes, 1)
		}
		if s.found != First {
			past.looked += float64(s.to - s.from)
		}
	}
}
