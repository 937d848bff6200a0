package status

import (
	"cmp"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"time"
)

// What a Record holds at most.
const (
	// Days is how many days it shows. They are those of UTC, so that all instances and readers mean the same.
	Days = 90
	// daysKept is more, so that days which a wrong clock has made displace none that is shown.
	daysKept = Days + 10
	// slot is how much time the smallest piece covers, by which incidents begin and end; window is how many are kept.
	slot   = 5 * time.Minute
	window = 12

	// slotsKept is how many slots trim leaves: those within window of the present one, in both directions.
	slotsKept = 2*window + 1

	endpointsKept = 1000
	spellsKept    = 500
	// seedKept is the size in bytes of the longest seed, and of the longest name of a writer.
	seedKept = 100
)

const day = 24 * time.Hour

// Tally is how requests ended: those that worked, got a stale answer, and failed.
type Tally [3]uint64

func (t Tally) judged() uint64 { return t[0] + t[1] + t[2] }

func (t Tally) plus(u Tally) Tally { return Tally{t[0] + u[0], t[1] + u[1], t[2] + u[2]} }

// Record is what outlives the process, and what the instances of a fleet keep together. What is added to two of them
// can be added to one in any order, and whatever the clock says, its size is bounded.
type Record struct {
	// Version is that of the format.
	Version int `json:"version"`
	// Seed is what ids in feeds are made of, so that two services have different ones.
	Seed string `json:"seed"`
	// Writer is who wrote it last, so that a writer knows its own.
	Writer    string           `json:"writer"`
	Since     time.Time        `json:"since"`
	Endpoints map[string]*past `json:"endpoints"`
	// Incidents are in the order in which they were found.
	Incidents []Incident `json:"incidents"`
}

// past is what is kept of an endpoint, by the numbers of days and slots since 1970.
type past struct {
	Days  map[int64]Tally `json:"days"`
	Slots map[int64]Tally `json:"slots"`
}

func newRecord(now time.Time) *Record {
	return &Record{Version: version, Seed: rand.Text(), Since: now.UTC().Truncate(time.Second)}
}

// number counts the stretches of a width up to that with the instant.
func number(at time.Time, width time.Duration) int64 { return at.Unix() / int64(width.Seconds()) }

// startOf is when a stretch begins.
func startOf(number int64, width time.Duration) time.Time {
	return time.Unix(number*int64(width.Seconds()), 0).UTC()
}

// of is what is kept of an endpoint. It is made if there is nothing, but kept no more where there are too many.
func (r *Record) of(name string) *past {
	if r.Endpoints == nil {
		r.Endpoints = map[string]*past{}
	}
	p := r.Endpoints[name]
	if p == nil {
		p = &past{map[int64]Tally{}, map[int64]Tally{}}
		if len(r.Endpoints) < endpointsKept {
			r.Endpoints[name] = p
		}
	}
	return p
}

// Add counts requests of an endpoint that ended at an instant.
func (r *Record) Add(name string, at time.Time, t Tally) {
	if t.judged() == 0 {
		return
	}
	p, d, s := r.of(name), number(at, day), number(at, slot)
	p.Days[d] = p.Days[d].plus(t)
	p.Slots[s] = p.Slots[s].plus(t)
	keepNearest(p.Slots, s, 2*window) // while the store hangs
}

// merge adds what another record has counted.
func (r *Record) merge(other *Record) {
	for name, theirs := range other.Endpoints {
		p := r.of(name)
		for n, t := range theirs.Days {
			p.Days[n] = p.Days[n].plus(t)
		}
		for n, t := range theirs.Slots {
			p.Slots[n] = p.Slots[n].plus(t)
		}
	}
}

// check reports why a record cannot be what an instance has written, after trim.
func (r *Record) check() error {
	spells := 0
	for i := range r.Incidents {
		spells += max(len(r.Incidents[i].Spells), 1)
	}
	switch {
	case r.Seed == "":
		return errors.New("expected a record with a seed")
	case len(r.Endpoints) > endpointsKept, spells > spellsKept, len(r.Seed) > seedKept, len(r.Writer) > seedKept:
		return errLarge
	}
	for _, p := range r.Endpoints {
		if p != nil && (len(p.Days) > daysKept || len(p.Slots) > slotsKept) {
			return errLarge
		}
	}
	return nil
}

// clone returns a copy that shares nothing with the record.
func (r *Record) clone() *Record {
	c := *r
	c.Endpoints = maps.Clone(r.Endpoints)
	for name, p := range c.Endpoints {
		c.Endpoints[name] = &past{maps.Clone(p.Days), maps.Clone(p.Slots)}
	}
	c.Incidents = slices.Clone(r.Incidents)
	for i := range c.Incidents {
		c.Incidents[i].Spells = slices.Clone(c.Incidents[i].Spells)
	}
	return &c
}

// trim forgets what is too much: the oldest incidents, and of the days those that are furthest from now, in whichever
// direction: a clock that was wrong for a while, then or now, costs no more than the margin of daysKept.
func (r *Record) trim(now time.Time) {
	today, current := number(now, day), number(now, slot)
	for _, p := range r.Endpoints {
		keepNearest(p.Days, today, daysKept)
		maps.DeleteFunc(p.Slots, func(n int64, _ Tally) bool { return distance(n, current) > window })
	}
	spells := 0
	for i := range slices.Backward(r.Incidents) {
		if spells += len(r.Incidents[i].Spells); spells > spellsKept {
			r.Incidents = r.Incidents[i+1:]
			break
		}
	}
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// keepNearest removes all but so many numbers, those furthest from one first.
func keepNearest(m map[int64]Tally, to int64, most int) {
	if len(m) <= most {
		return
	}
	numbers := slices.SortedFunc(maps.Keys(m), func(a, b int64) int { return cmp.Compare(distance(a, to), distance(b, to)) })
	for _, n := range numbers[most:] {
		delete(m, n)
	}
}
