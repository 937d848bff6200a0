package status

import (
	"slices"
	"sync"
	"time"
)

// What is remembered.
const (
	// Minute is how much time a bucket of the hour covers.
	Minute = time.Minute
	// HalfHour is the same for the day.
	HalfHour = 30 * time.Minute
	// Minutes is how many buckets the hour has. The last one is not over.
	Minutes = 60
	// HalfHours is the same for the day.
	HalfHours = 48
)

// ObserveEvery is how often Observe should be called: often enough that what happened is put
// in the right minute.
const ObserveEvery = 10 * time.Second

// Totals are what an endpoint has counted so far.
type Totals struct {
	Counts
	// Durations counts requests by how long they took: those up to each bound that are
	// above the one before, and last those above all bounds.
	Durations []uint64
}

// History of the endpoints. It is safe for concurrent use.
type History struct {
	read   func() map[string]Totals
	bounds []float64
	keeper *Keeper

	mu        sync.Mutex // guards the rest, and that totals are read in order
	observed  time.Time  // zero: not yet
	all       series
	endpoints map[string]*series
}

// series is what is remembered of an endpoint, or of all.
type series struct {
	before    Totals
	hour, day ring
}

func newSeries() series {
	return series{hour: newRing(Minute, Minutes), day: newRing(HalfHour, HalfHours)}
}

// NewHistory returns an empty history. read returns the totals of all endpoints that there are,
// by name; it is called by Observe alone, never twice at a time. bounds are the upper
// bounds of the buckets of durations, in seconds, ascending. The keeper gets what is counted, too.
func NewHistory(bounds []float64, read func() map[string]Totals, keeper *Keeper) *History {
	return &History{read: read, bounds: bounds, keeper: keeper, all: newSeries(), endpoints: map[string]*series{}}
}

// Observe remembers what was counted since the last call. What an endpoint had counted
// before it was first observed is left out; one that is gone is forgotten. It should be
// called every ObserveEvery, and when endpoints have come or gone.
func (h *History) Observe(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	totals := h.read()
	at, first := h.middle(now), h.observed.IsZero()
	h.observed = now
	for name := range h.endpoints {
		if _, ok := totals[name]; !ok {
			delete(h.endpoints, name)
		}
	}
	for name, t := range totals {
		s, ok := h.endpoints[name]
		if !ok {
			s = new(newSeries())
			s.before, h.endpoints[name] = t, s
			continue
		}
		counted := t.since(&s.before.Counts)
		s.add(at, &counted, s.before.Durations, t.Durations)
		h.all.add(at, &counted, s.before.Durations, t.Durations)
		h.keeper.count(name, at, counted.tally())
		s.before = t
	}
	if !first {
		h.all.add(at, &Counts{}, nil, nil) // known, also without endpoints
	}
}

// middle is the instant for which what was counted since the last call is remembered:
// the middle of that time, or what would be the middle if it had been ObserveEvery.
func (h *History) middle(now time.Time) time.Time {
	since := min(max(now.Sub(h.observed), 0), ObserveEvery)
	return now.Add(-since / 2)
}

// add adds what was counted to the buckets of an instant.
func (s *series) add(at time.Time, counted *Counts, before, after durations) {
	day := s.day.at(at)
	day.known = true
	day.Add(counted)
	minute := s.hour.at(at)
	minute.known = true
	minute.Add(counted)
	if slices.Equal(before, after) {
		return
	}
	if minute.took == nil {
		minute.took = make(durations, len(after))
	}
	minute.took.add(before, after)
}
