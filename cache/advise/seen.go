// Package advise says how many answers would be old, and how many upstream calls it would
// take, under any cache rule. It replays the requests that were seen through the rule, over
// the changes that refreshes found: no process of change is assumed, and what cannot be
// known lies within a band.
//
// What it promises: it is pure, and time is an argument; its memory is bounded; of a key it
// has a mark alone. An answer is old if its content had changed when it was served; the old
// share is that of such answers among all.
package advise

import (
	"slices"
	"time"
)

// Outcome is what a refresh found.
type Outcome uint8

// The outcomes. After First nothing is known of what was before: the key was not in the
// cache.
const (
	First Outcome = iota + 1
	Unchanged
	Changed
)

// DefaultEvents is how many events of an endpoint are kept: 512 KiB.
const DefaultEvents = 512 << 10 / eventBytes

const (
	eventBytes = 16
	// together is the share of the TTL within which requests of a key are one event.
	together = 1.0 / 64
	// near is how many of the last events are looked through for one of the same key.
	near = 64
)

// Seen is what was seen of an endpoint: requests, and what refreshes found. The zero value
// has seen nothing. It is not safe for concurrent use.
type Seen struct {
	// Most events that are kept, the newest ones; 0 means DefaultEvents.
	Most   int
	events []event
}

// event is a request, or a refresh.
type event struct {
	at      int64 // Unix milliseconds
	key     uint32
	weight  uint16 // requests that it stands for
	outcome Outcome
	spread  bool // they came since the one before, and not at once
}

// Request notes a request for a key, under the TTL in force. One that was drawn from a
// sample stands for weight requests since the one before; else weight is 1.
func (s *Seen) Request(key uint32, at time.Time, weight int, ttl time.Duration) {
	e := event{at: at.UnixMilli(), key: key, weight: uint16(min(max(weight, 1), 1<<16-1)), spread: weight > 1}
	if i := s.before(key); i >= 0 && !e.spread && e.at-s.events[i].at < int64(float64(ttl.Milliseconds())*together) && s.events[i].weight < 1<<16-1 {
		s.events[i].weight++
		return
	}
	s.add(e)
}

// before is the last of the near events, if that is a request of a key; else -1.
func (s *Seen) before(key uint32) int {
	for i := len(s.events) - 1; i >= max(0, len(s.events)-near); i-- {
		if s.events[i].key == key {
			if s.events[i].outcome != 0 || s.events[i].spread {
				return -1
			}
			return i
		}
	}
	return -1
}

// Refresh notes what a refresh found that began at a time.
func (s *Seen) Refresh(key uint32, at time.Time, found Outcome) {
	s.add(event{at: at.UnixMilli(), key: key, outcome: found})
}

// add appends an event. Of too many, the oldest quarter is forgotten.
func (s *Seen) add(e event) {
	most := s.Most
	if most == 0 {
		most = DefaultEvents
	}
	if len(s.events) >= most {
		s.events = slices.Delete(s.events, 0, max(1, most/4))
	}
	s.events = append(s.events, e)
}

// Evidence is what an advice rests on.
type Evidence struct {
	Requests, Refreshes, Changes int
	From, To                     time.Time
}

func evidenceOf(events []event) Evidence {
	var out Evidence
	for i := range events {
		switch e := &events[i]; e.outcome {
		case 0:
			out.Requests += int(e.weight)
		case Changed:
			out.Changes++
			out.Refreshes++
		case Unchanged:
			out.Refreshes++
		}
	}
	if n := len(events); n > 0 {
		out.From, out.To = time.UnixMilli(events[0].at), time.UnixMilli(events[n-1].at)
	}
	return out
}
