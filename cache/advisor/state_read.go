package advisor

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// reader reads a state. After a mistake it returns zeros.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrState, what)
	}
	r.rest = nil
}

func (r *reader) take(n int) []byte {
	if len(r.rest) < n {
		r.fail("it is too short")
		return make([]byte, n)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) octet() byte  { return r.take(1)[0] }
func (r *reader) text() string { return string(r.take(int(r.octet()))) }
func (r *reader) word() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *reader) flag() bool {
	b := r.octet()
	if b > 1 {
		r.fail("a flag is neither set nor unset")
	}
	return b == 1
}

func (r *reader) number(most uint64) uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > most {
		r.fail("a number is too large")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 || v < -maxTime || v > maxTime {
		r.fail("a number is too large")
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// maxTime is the last time in milliseconds that a state may have: in the year 2262.
const maxTime = math.MaxInt64 / 1_000_000

func (r *reader) time() time.Time {
	if ms := int64(r.number(maxTime)); ms > 0 {
		return time.UnixMilli(ms)
	}
	return time.Time{}
}

func (r *reader) long() time.Duration { return time.Duration(r.number(maxTime)) * time.Millisecond }

// amount is a number that is neither negative nor infinite.
func (r *reader) amount() float64 {
	v := math.Float64frombits(r.word())
	if !(v >= 0) || v > 1e18 {
		r.fail("an amount is impossible")
		return 0
	}
	return v
}

func (r *reader) space(at time.Time) *savedSpace {
	s := &savedSpace{at: at, version: r.word()}
	r.history(&s.history)
	r.traffic(&s.traffic)
	r.tally(s)
	return s
}

func (r *reader) history(h *history) {
	if h.thinned = r.octet(); h.thinned > maxDepth {
		r.fail("keys are chosen by too many bits")
	}
	for n := r.octet(); n > 0 && r.err == nil; n-- {
		h.sources = append(h.sources, r.text())
	}
	if len(h.sources) > maxSources {
		r.fail("too many sources")
	}
	before := int64(0)
	for n := r.number(maxObservations); n > 0 && r.err == nil; n-- {
		o := r.observation(before)
		before = o.from
		h.list = append(h.list, o)
	}
}

func (r *reader) observation(before int64) observation {
	o := observation{from: before + r.signed()}
	o.to = o.from + int64(r.number(maxTime))
	o.key, o.looks = mark(r.number(1<<24-1)), uint32(r.number(math.MaxUint32))
	o.source, o.depth, o.changed = r.octet(), r.octet(), r.flag()
	if o.from < 0 || o.to <= o.from || o.to > maxTime || o.looks == 0 || o.source > otherSource || o.depth > maxDepth {
		r.fail("an observation is impossible")
	}
	return o
}

func (r *reader) traffic(t *traffic) {
	if !r.flag() {
		return
	}
	t.began, t.requests, t.span = r.time(), r.amount(), r.amount()
	t.index = map[mark]int{}
	for n := r.number(topKeys); n > 0 && r.err == nil; n-- {
		k := keyCount{mark(r.number(1<<24 - 1)), r.amount(), r.amount()}
		if _, twice := t.index[k.key]; twice || k.err > k.count {
			r.fail("a count is impossible")
		}
		t.index[k.key] = len(t.top)
		t.top = append(t.top, k)
	}
	for i := range t.distinct {
		r.distinct(&t.distinct[i])
	}
}

func (r *reader) distinct(d *distinct) {
	at := uint64(0)
	for n := r.number(uint64(len(d))); n > 0 && r.err == nil; n-- {
		at += r.number(uint64(len(d)))
		z := r.octet()
		if at >= uint64(len(d)) || z > 64 {
			r.fail("a register is impossible")
			return
		}
		d[at] = z
	}
}

func (r *reader) tally(s *savedSpace) {
	t := &s.tally
	if t.rule = r.text(); t.rule == "" {
		return
	}
	t.since, t.ttl, t.grace, t.seen = r.time(), r.long(), r.long(), r.flag()
	t.requests, t.waited, t.calls = r.amount(), r.amount(), r.amount()
	s.oldKnown, s.old = r.flag(), r.amount()
	if r.flag() {
		t.predicted = &Outcome{r.long(), r.long(), r.amount(), r.amount(), r.amount(), r.amount()}
	}
	if r.flag() {
		t.before = &Measured{Since: r.time(), TTL: r.long(), Grace: r.long(), OldKnown: r.flag()}
		t.before.CallsPerHour, t.before.HitRatio, t.before.OldShare, t.before.Requests = r.amount(), r.amount(), r.amount(), r.amount()
	}
}
