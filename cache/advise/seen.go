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
	// at is in Unix milliseconds, and kind in the lowest bits: so an event takes 16 bytes.
	at  int64
	key uint32
	// n is how many requests it stands for, or how old, in milliseconds, the copy was that
	// the refresh replaced.
	n float32
}

// kind of an event: the outcomes of refreshes, and two of requests.
type kind uint8

const (
	request kind = iota
	// sample stands for requests since the one before, and not all at once.
	sample kind = iota + kind(Changed)
	kinds
)

const kindBits = 3

func newEvent(key uint32, at time.Time, k kind, n float32) event {
	return event{at.UnixMilli()<<kindBits | int64(k), key, n}
}

func (e event) time() int64       { return e.at >> kindBits }
func (e event) kind() kind        { return kind(e.at & (1<<kindBits - 1)) }
func (e event) isRequest() bool   { return e.kind() == request || e.kind() == sample }
func (e event) outcome() Outcome  { return Outcome(e.kind()) } // of a refresh
func (e event) requests() float64 { return float64(e.n) }

// Request notes a request for a key, under the TTL in force. One that was drawn from a
// sample stands for weight requests since the one before; else weight is 1.
func (s *Seen) Request(key uint32, at time.Time, weight int, ttl time.Duration) {
	if weight > 1 {
		s.add(newEvent(key, at, sample, float32(weight)))
		return
	}
	if i := s.before(key); i >= 0 && at.UnixMilli()-s.events[i].time() < int64(float64(ttl.Milliseconds())*together) {
		s.events[i].n++
		return
	}
	s.add(newEvent(key, at, request, 1))
}

// before is the last of the near events of a key, if that is a single request; else -1.
func (s *Seen) before(key uint32) int {
	for i := len(s.events) - 1; i >= max(0, len(s.events)-near); i-- {
		if s.events[i].key == key {
			if s.events[i].kind() != request {
				return -1
			}
			return i
		}
	}
	return -1
}

// Refresh notes what a refresh found that began at a time, and how old the copy was then
// that it replaced; 0 for First.
func (s *Seen) Refresh(key uint32, at time.Time, age time.Duration, found Outcome) {
	s.add(newEvent(key, at, kind(found), float32(age.Milliseconds())))
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
	for _, e := range events {
		switch {
		case e.isRequest():
			out.Requests += int(e.n)
		case e.outcome() == Changed:
			out.Changes++
			out.Refreshes++
		case e.outcome() == Unchanged:
			out.Refreshes++
		}
	}
	if n := len(events); n > 0 {
		out.From, out.To = time.UnixMilli(events[0].time()), time.UnixMilli(events[n-1].time())
	}
	return out
}
