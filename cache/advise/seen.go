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

// ParseOutcome reads that of a cache.Filled, and of a line of the log. A fill that failed
// has none.
func ParseOutcome(text string) (found Outcome, ok bool) {
	switch text {
	case "first":
		return First, true
	case "unchanged":
		return Unchanged, true
	case "changed":
		return Changed, true
	}
	return 0, false
}

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
//
// Where there is no room for all keys over a time that tells something, a sample of the
// keys is kept with all that is seen of each (Waldspurger et al., Efficient MRC
// Construction with SHARDS, FAST 2015): half of them, a quarter, and so on.
type Seen struct {
	// Most events that are kept, the newest ones; 0 means DefaultEvents.
	Most   int
	events []event
	halved uint8         // how often the keys were halved
	ttl    time.Duration // the last one that was in force
}

// Bounds of the sample of keys.
const (
	// fewestKeys are not halved: each matters.
	fewestKeys = 64
	// enoughTTLs is for how many TTLs all is kept before keys are left out, but for a day
	// at least and a month at most.
	enoughTTLs          = 64
	leastTime, mostTime = 24 * time.Hour, 30 * 24 * time.Hour
)

// keeps reports whether a key is in the sample.
func (s *Seen) keeps(key uint32) bool { return key&(1<<s.halved-1) == 0 }

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
	s.ttl = ttl
	if !s.keeps(key) {
		return
	}
	k := request
	if weight > 1 {
		k = sample
	}
	if i := s.together(k, key, at.UnixMilli(), int64(float64(ttl.Milliseconds())*together)); i >= 0 {
		s.events[i].n += float32(max(weight, 1))
		if k == sample {
			s.events[i].at = newEvent(key, at, k, 0).at
		}
		return
	}
	s.add(newEvent(key, at, k, float32(max(weight, 1))))
}

// together is the event that takes one more request of a key, of the same kind, if that is
// among the last ones; else -1. What a sample stands for began with the event before it.
func (s *Seen) together(k kind, key uint32, at, within int64) int {
	last := -1
	for i := len(s.events) - 1; i >= max(0, len(s.events)-near); i-- {
		switch e := s.events[i]; {
		case e.key != key:
		case last < 0 && e.kind() != k, last < 0 && k == request && apart(at, e.time()) >= within:
			return -1
		case k == request:
			return i
		case last < 0:
			last = i
		case apart(at, e.time()) < within:
			return last
		default:
			return -1
		}
	}
	return -1
}

// apart is how far apart two times are: logs are read in any order.
func apart(a, b int64) int64 { return max(a-b, b-a) }

// Refresh notes what a refresh found that began at a time, and how old the copy was then
// that it replaced. First with age 0 means that there was no copy: it had been evicted or
// purged, which is so under any rule. First with an age means that the copy tells nothing,
// as where another source answers.
func (s *Seen) Refresh(key uint32, at time.Time, age time.Duration, found Outcome) {
	if s.keeps(key) {
		s.add(newEvent(key, at, kind(found), float32(age.Milliseconds())))
	}
}

// add appends an event, for which there is room then.
func (s *Seen) add(e event) {
	most := s.Most
	if most == 0 {
		most = DefaultEvents
	}
	if len(s.events) >= most {
		s.makeRoom(most)
	}
	if len(s.events) == cap(s.events) { // never for more than the bound
		s.events = append(make([]event, 0, min(most, max(near, 2*len(s.events)))), s.events...)
	}
	s.events = append(s.events, e)
}

// makeRoom leaves out half of the keys, if there are many and their events tell of too
// short a time; else it forgets the oldest events.
func (s *Seen) makeRoom(most int) {
	enough := min(max(enoughTTLs*s.ttl, leastTime), mostTime)
	if past := s.events[len(s.events)-1].time() - s.events[0].time(); past < enough.Milliseconds() && s.halved < 31 && s.manyKeys() {
		s.halved++
		s.events = slices.DeleteFunc(s.events, func(e event) bool { return !s.keeps(e.key) })
	}
	if len(s.events) > most*3/4 {
		s.events = slices.Delete(s.events, 0, len(s.events)-most*3/4)
	}
}

func (s *Seen) manyKeys() bool {
	keys := map[uint32]struct{}{}
	for _, e := range s.events {
		if keys[e.key] = struct{}{}; len(keys) > fewestKeys {
			return true
		}
	}
	return false
}

// forgetUntil forgets what was before a time.
func (s *Seen) forgetUntil(at time.Time) {
	if !at.IsZero() {
		s.events = slices.DeleteFunc(s.events, func(e event) bool { return e.time() < at.UnixMilli() })
	}
}

// Evidence is what an advice rests on.
type Evidence struct {
	Requests  int       `json:"requests"`
	Refreshes int       `json:"refreshes"`
	Changes   int       `json:"changes"`
	From      time.Time `json:"from,omitzero"`
	To        time.Time `json:"to,omitzero"`
	Days      float64   `json:"days"` // from From to To
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
		out.Days = out.To.Sub(out.From).Hours() / 24
	}
	return out
}
