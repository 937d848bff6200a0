package advise

import (
	"math"
)

// course is what is known of one key: its requests, and between which refreshes its
// content changed.
type course struct {
	requests []asked
	spans    []span // one after the other, without gaps
	// gone is when the copy turned out to be gone, in Unix milliseconds: it was evicted or
	// purged, and would have been under any rule.
	gone []int64
	// unseen is when copies were made that nobody noted.
	unseen []int64
	// before and after are the rates of change, per millisecond, outside of the spans.
	before, after float64
	// last is when the last refresh began, in Unix milliseconds; 0: there was none.
	last int64
	// mass is where the share of old answers is counted that no single change leads to.
	mass int
	// power is that of the parts of spans.
	power float64
	// always means that every refresh found a change: it may change far more often.
	always bool
}

// asked is when requests came: so many at once, and others at random since the one before.
type asked struct {
	at     int64
	n      float64
	others int
	sample bool
}

// span lies between two refreshes.
type span struct {
	from, to int64
	found    Outcome // by the later refresh; First: nothing is known of the span
	rate     float64 // of change within it, per millisecond; 0 if it is unchanged
	doubt    float64 // how much less certain the rate is than a count of changes
	next     int     // the next span that is not unchanged
	mass     int     // where its share of old answers is counted
}

const (
	// fewest refreshes tell that a content always changes.
	fewest = 3
	// byChance is how likely it is at most that all refreshes of a key found a change by
	// chance, as often as those of the others did.
	byChance = 0.05
	// mostly is the share of changes of the others from which on the same is believed of it.
	mostly = 0.9
)

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
			c.asked(e)
		} else {
			c.refreshed(e)
		}
	}
	if len(events) > 0 {
		for _, c := range out {
			c.complete()
			c.spread(events[0].time())
		}
	}
	alwaysOf(out)
	power := bunched(out)
	for _, c := range out {
		c.power = power
	}
	return out
}

// asked adds a request. A sample is one of those that it stands for.
func (c *course) asked(e event) {
	if e.kind() == sample {
		c.requests = append(c.requests, asked{e.time(), 1, int(e.n) - 1, true})
	} else {
		c.requests = append(c.requests, asked{e.time(), e.requests(), 0, false})
	}
}

// longestSpread bounds the time over which the requests of a sample are spread.
const longestSpread = day

// spread divides what samples stand for among the times between requests: they came since
// the sample before. Hits may have been sampled and misses not.
func (c *course) spread(from int64) {
	first, left := 0, 0.0
	for i := range c.requests {
		if a := &c.requests[i]; a.sample {
			since, n := max(from, a.at-longestSpread), float64(a.others)
			per := n / float64(max(1, a.at-since))
			for j := first; j <= i; j++ {
				b := &c.requests[j]
				left += per * float64(max(0, b.at-since))
				since = max(since, b.at)
				b.others = int(left)
				left -= float64(b.others)
			}
			first, from = i+1, a.at
		}
	}
}

// alwaysOf marks the keys of which every refresh found a change, unless that is by chance,
// as few were seen and other keys change less often.
func alwaysOf(courses []*course) {
	changed, known := 0.0, 0.0
	for _, c := range courses {
		x, n := c.counts()
		changed, known = changed+x, known+n
	}
	for _, c := range courses {
		x, n := c.counts()
		others := (changed - x + 0.5) / (known - n + 1)
		c.always = x == n && n >= fewest && (others > mostly || math.Pow(others, n) < byChance)
	}
}

// counts are the spans that changed, and all of which that is known.
func (c *course) counts() (changed, known float64) {
	for i := range c.spans {
		switch c.spans[i].found {
		case Changed:
			changed++
			known++
		case Unchanged:
			known++
		}
	}
	return changed, known
}

// refreshed adds the span from the copy that a refresh replaced. What lies between that
// and the last refresh that was seen is not known: another instance may have refreshed.
func (c *course) refreshed(e event) {
	at, last := e.time(), c.last
	from := at - int64(e.n)
	if rounding := int64(e.n)>>20 + 1; e.outcome() == First || from >= at || from <= last+rounding {
		from = last
	}
	switch {
	case at <= last: // it began before one that was seen, and tells nothing
		return
	case last != 0 && e.outcome() == First && e.n == 0:
		c.gone = append(c.gone, at)
		c.spans = append(c.spans, span{from: last, to: at, found: First})
	case last == 0 && (e.outcome() == First || from <= 0):
	case last == 0:
		c.spans = append(c.spans, span{from: at - int64(e.n), to: at, found: e.outcome()})
	case from > last:
		c.unseen = append(c.unseen, from)
		c.spans = append(c.spans, span{from: last, to: from, found: First}, span{from: from, to: at, found: e.outcome()})
	default:
		c.spans = append(c.spans, span{from: last, to: at, found: e.outcome()})
	}
	c.last = at
}

// complete finds the rates.
func (c *course) complete() {
	rates, next := ratesOf(c.spans), len(c.spans)
	for i := len(c.spans) - 1; i >= 0; i-- {
		s := &c.spans[i]
		if s.next = next; s.found == Unchanged {
			continue
		}
		next = i
		s.rate = rates.within(i)
		s.doubt = s.doubts()
	}
	c.before = rateOf(c.spans[:min(len(c.spans), neighbours)])
	c.after = rateOf(c.spans[max(0, len(c.spans)-neighbours):])
}

// old is the probability that the content changed between two times, and adds it, as
// often as the weight says, to what the spans are blamed for. The first span that ends
// after the first time is known.
func (c *course) old(i int, from, to int64, weight float64, b *blame) float64 {
	if i < len(c.spans) && c.spans[i].found == Unchanged {
		i = c.spans[i].next
	}
	b.begin()
	first, last := c.known()
	if from < first {
		b.note(c.mass, -math.Expm1(-c.before*float64(min(to, first)-from)), 0)
	}
	for ; i < len(c.spans) && c.spans[i].from < to; i = c.spans[i].next {
		s := &c.spans[i]
		part := float64(min(s.to, to) - max(s.from, from))
		b.note(s.mass, s.changed(part, c.power), s.doubt*s.matters(part))
	}
	if to > last {
		b.note(c.mass, -math.Expm1(-c.after*float64(to-max(from, last))), 0)
	}
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
func (s *span) changed(part, power float64) float64 {
	whole := float64(s.to - s.from)
	switch {
	case s.found == Changed && part >= whole:
		return 1
	case s.found == Changed:
		p := math.Expm1(-s.rate*part) / math.Expm1(-s.rate*whole)
		if power < 1 {
			p *= math.Pow(max(p, seenPart), power-1)
		}
		return p
	case s.found == First:
		return -math.Expm1(-s.rate * part)
	}
	return 0
}

// doubts is by how much the square of the error of a rate is larger than that of a count
// of as many changes, because refreshes do not count them: (e^x-1)(1-e^-x)/x² for x changes
// in a span (Cho and Garcia-Molina), less 1.
func (s *span) doubts() float64 {
	const most = 12
	x := min(most, s.rate*float64(s.to-s.from))
	if s.found != Changed || x < 0.5 {
		return 0
	}
	return 4*math.Pow(math.Sinh(x/2)/x, 2) - 1
}

// matters is the square of how much the probability of a change within a part of the span
// follows the rate: fully if the part is short.
func (s *span) matters(part float64) float64 {
	if s.doubt == 0 {
		return 0
	}
	x := s.rate * part
	return math.Pow(x/math.Expm1(x), 2)
}
