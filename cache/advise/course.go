package advise

import (
	"math"
	"slices"
)

// course is what is known of one key: its requests, and between which refreshes its
// content changed.
type course struct {
	requests []event
	spans    []span // one after the other, without gaps
	// before and after are the rates of change, per millisecond, outside of the spans.
	before, after float64
	// last is when the last refresh began, in Unix milliseconds; 0: there was none.
	last int64
	// always means that every refresh found a change: it may change far more often.
	always bool
}

// span lies between two refreshes.
type span struct {
	from, to int64
	found    Outcome // by the later refresh; First: nothing is known of the span
	rate     float64 // of change within it, per millisecond; 0 if it is unchanged
	next     int     // the next span that is not unchanged
	mass     int     // where its share of old answers is counted
}

// fewest refreshes tell that a content always changes.
const fewest = 3

// neighbours is how many spans on each side tell the rate within one.
const neighbours = 8

// coursesOf are those of all keys.
func coursesOf(events []event) []*course {
	byKey := map[uint32]*course{}
	var out []*course
	for _, e := range events {
		c := byKey[e.key]
		if c == nil {
			c = &course{}
			byKey[e.key] = c
			out = append(out, c)
		}
		if e.isRequest() {
			c.requests = append(c.requests, e)
		} else {
			c.refreshed(e)
		}
	}
	for _, c := range out {
		c.complete()
	}
	return out
}

// refreshed adds the span from the copy that a refresh replaced. What lies between that
// and the last refresh that was seen is not known: another instance may have refreshed.
func (c *course) refreshed(e event) {
	at, last := e.time(), c.last
	from := at - int64(e.n)
	if rounding := int64(e.n)>>20 + 1; e.outcome() == First || from <= last+rounding {
		from = last
	}
	switch {
	case at <= last: // it began before one that was seen, and tells nothing
		return
	case last == 0 && e.outcome() == First:
	case last == 0:
		c.spans = append(c.spans, span{from: at - int64(e.n), to: at, found: e.outcome()})
	case from > last:
		c.spans = append(c.spans, span{from: last, to: from, found: First}, span{from: from, to: at, found: e.outcome()})
	default:
		c.spans = append(c.spans, span{from: last, to: at, found: e.outcome()})
	}
	c.last = at
}

// complete finds the rates. Where all neighbours changed, those of all spans tell more.
func (c *course) complete() {
	all, next := rateOf(c.spans), len(c.spans)
	for i := len(c.spans) - 1; i >= 0; i-- {
		s := &c.spans[i]
		if s.next = next; s.found == Unchanged {
			continue
		}
		next = i
		if near := c.spans[max(0, i-neighbours):min(len(c.spans), i+neighbours+1)]; slices.ContainsFunc(near, unchanged) {
			s.rate = rateOf(near)
		} else {
			s.rate = max(all, rateOf(near))
		}
	}
	c.always = len(c.spans) >= fewest && !slices.ContainsFunc(c.spans, unchanged)
	c.before = rateOf(c.spans[:min(len(c.spans), neighbours)])
	c.after = rateOf(c.spans[max(0, len(c.spans)-neighbours):])
}

func unchanged(s span) bool { return s.found == Unchanged }

// Bounds of rates, in changes per millisecond: one in 300 years, and ten a second.
const minRate, maxRate = 1e-13, 1e-2

// rateOf is the likeliest rate of changes at random, of which a refresh finds that there
// were some, not how many: it solves
//
//	sum over changed of t/(e^(rate*t)-1) = sum over unchanged of t + half the mean t
//
// (Cho and Garcia-Molina, Estimating frequency of change, ACM TOIT 3(3), 2003). It is 0 if
// nothing changed.
func rateOf(spans []span) float64 {
	unchanged, total, known, changes := 0.0, 0.0, 0, 0
	for i := range spans {
		t := float64(spans[i].to - spans[i].from)
		switch spans[i].found {
		case Unchanged:
			unchanged += t
		case Changed:
			changes++
		default:
			continue
		}
		known++
		total += t
	}
	if changes == 0 {
		return 0
	}
	right := unchanged + total/float64(2*known)
	low, high := math.Log(minRate), math.Log(maxRate)
	for range 40 {
		middle := (low + high) / 2
		if changedTime(spans, math.Exp(middle)) > right {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Exp(low)
}

// changedTime is the left side of the equation of rateOf.
func changedTime(spans []span, rate float64) float64 {
	sum := 0.0
	for i := range spans {
		if spans[i].found == Changed {
			t := float64(spans[i].to - spans[i].from)
			sum += t / math.Expm1(rate*t)
		}
	}
	return sum
}

// old is the probability that the content changed between two times, and adds it, as
// often as the weight says, to what the spans are blamed for.
func (c *course) old(from, to int64, weight float64, b *blame) float64 {
	i, _ := slices.BinarySearchFunc(c.spans, from, func(s span, at int64) int {
		if s.to <= at {
			return -1
		}
		return 1
	})
	if i < len(c.spans) && c.spans[i].found == Unchanged {
		i = c.spans[i].next
	}
	b.begin()
	first, last := c.known()
	b.note(outside, -math.Expm1(-c.before*float64(max(0, min(to, first)-from))))
	for ; i < len(c.spans) && c.spans[i].from < to; i = c.spans[i].next {
		s := &c.spans[i]
		b.note(s.mass, s.changed(float64(min(s.to, to)-max(s.from, from))))
	}
	b.note(outside, -math.Expm1(-c.after*float64(max(0, to-max(from, last)))))
	return b.end(weight)
}

// known is when the first span begins and the last one ends.
func (c *course) known() (first, last int64) {
	if len(c.spans) == 0 {
		return math.MinInt64, math.MinInt64
	}
	return c.spans[0].from, c.spans[len(c.spans)-1].to
}

// changed is the probability of a change within a part of the span, in milliseconds.
func (s *span) changed(part float64) float64 {
	whole := float64(s.to - s.from)
	switch {
	case s.found == Changed && part >= whole:
		return 1
	case s.found == Changed:
		return math.Expm1(-s.rate*part) / math.Expm1(-s.rate*whole)
	case s.found == First:
		return -math.Expm1(-s.rate * part)
	}
	return 0
}
