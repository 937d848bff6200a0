package advisor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// The state is what is kept over a restart, and what the instances of a fleet show each
// other: observations, how the requests are spread over marks of the keys, and what was
// measured of the rule in force. It begins with stateMagic, whose last byte is the
// version, and ends with its XXH64. Whole numbers are varints; an observation takes some
// 12 bytes.

const (
	stateKind  = "SADV"
	stateMagic = stateKind + "\x02"
	// MaxState bounds the bytes of a state.
	MaxState = 8 << 20
	maxName  = 255
)

// ErrState is returned for bytes that are no state of this version, or a damaged one.
var ErrState = errors.New("not a state of the advisor")

// State is what Restore takes, of what this instance knows now by itself.
func (a *Advisor) State(now time.Time) []byte {
	a.mu.RLock()
	spaces := maps.Clone(a.spaces)
	a.mu.RUnlock()
	w := writer(stateMagic)
	w.time(now)
	w.number(uint64(len(spaces)))
	for _, name := range slices.Sorted(maps.Keys(spaces)) {
		w.text(name)
		w.space(spaces[name], now)
	}
	return seal(w)
}

func seal(b []byte) []byte { return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)) }

// writer appends to a state.
type writer []byte

func (w *writer) octet(b byte)         { *w = append(*w, b) }
func (w *writer) number(v uint64)      { *w = binary.AppendUvarint(*w, v) }
func (w *writer) signed(v int64)       { *w = binary.AppendVarint(*w, v) }
func (w *writer) word(v uint64)        { *w = binary.LittleEndian.AppendUint64(*w, v) }
func (w *writer) float(v float64)      { w.word(math.Float64bits(v)) }
func (w *writer) time(at time.Time)    { w.number(uint64(max(0, at.UnixMilli()))) } // 0: none
func (w *writer) long(d time.Duration) { w.number(uint64(max(0, d.Milliseconds()))) }

func (w *writer) text(s string) {
	s = s[:min(len(s), maxName)]
	w.octet(byte(len(s)))
	*w = append(*w, s...)
}

func (w *writer) flag(v bool) {
	if v {
		w.octet(1)
		return
	}
	w.octet(0)
}

func (w *writer) space(s *space, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.word(s.version)
	w.history(&s.history, now)
	w.traffic(&s.traffic)
	share, known := s.oldShare(now)
	w.tally(&s.tally, share, known)
}

func (w *writer) history(h *history, now time.Time) {
	w.octet(h.thinned)
	w.octet(byte(len(h.sources)))
	for _, name := range h.sources {
		w.text(name)
	}
	list, before := h.recent(now), int64(0)
	w.number(uint64(len(list)))
	for i := range list {
		o := &list[i]
		w.signed(o.from - before)
		w.number(uint64(o.to - o.from))
		w.number(uint64(o.key))
		w.number(uint64(o.looks))
		w.octet(o.source)
		w.octet(o.depth)
		w.flag(o.changed)
		before = o.from
	}
}

func (w *writer) traffic(t *traffic) {
	w.flag(t.requests > 0)
	if t.requests == 0 {
		return
	}
	w.time(t.began)
	w.float(t.requests)
	w.float(t.span)
	w.number(uint64(len(t.top)))
	for _, k := range t.top {
		w.number(uint64(k.key))
		w.float(k.count)
		w.float(k.err)
	}
	for i := range t.distinct {
		w.distinct(&t.distinct[i])
	}
}

// distinct leaves zeros out, which most registers are.
func (w *writer) distinct(d *distinct) {
	filled := 0
	for _, z := range d {
		if z > 0 {
			filled++
		}
	}
	w.number(uint64(filled))
	last := 0
	for i, z := range d {
		if z > 0 {
			w.number(uint64(i - last))
			w.octet(z)
			last = i
		}
	}
}

func (w *writer) tally(t *tally, share float64, known bool) {
	w.text(t.rule)
	if t.rule == "" {
		return
	}
	w.time(t.since)
	w.long(t.ttl)
	w.long(t.grace)
	w.flag(t.seen)
	w.float(t.requests)
	w.float(t.waited)
	w.float(t.calls)
	w.flag(known)
	w.float(share)
	w.flag(t.predicted != nil)
	if t.predicted != nil {
		w.outcome(t.predicted)
	}
	w.flag(t.before != nil)
	if t.before != nil {
		w.measured(t.before)
	}
}

func (w *writer) outcome(o *Outcome) {
	w.long(o.TTL)
	w.long(o.Grace)
	for _, v := range []float64{o.CallsPerHour, o.HitRatio, o.OldShare, o.QuotaUsed} {
		w.float(v)
	}
}

func (w *writer) measured(m *Measured) {
	w.time(m.Since)
	w.long(m.TTL)
	w.long(m.Grace)
	w.flag(m.OldKnown)
	for _, v := range []float64{m.CallsPerHour, m.HitRatio, m.OldShare, m.Requests} {
		w.float(v)
	}
}

// saved is what a state holds.
type saved struct {
	at     time.Time
	spaces map[string]*savedSpace
}

// savedSpace is what a state holds of one space.
type savedSpace struct {
	at      time.Time // of the state
	version uint64
	history history
	traffic traffic
	tally   tally
	// old is the share of old answers under the rule of tally, if it is known.
	old      float64
	oldKnown bool
}

// parseState returns an ErrState for what is not a state.
func parseState(state []byte) (*saved, error) {
	if len(state) > MaxState || len(state) < len(stateMagic)+8 || string(state[:len(stateMagic)]) != stateMagic {
		return nil, fmt.Errorf("%w: %d bytes that do not begin as one of this version", ErrState, len(state))
	}
	body, sum := state[:len(state)-8], state[len(state)-8:]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(sum) {
		return nil, fmt.Errorf("%w: its checksum is wrong", ErrState)
	}
	r := &reader{rest: body[len(stateMagic):]}
	out := &saved{at: r.time(), spaces: map[string]*savedSpace{}}
	for n := r.number(maxSpaces); n > 0 && r.err == nil; n-- {
		name := r.text()
		out.spaces[name] = r.space(out.at)
	}
	if r.err == nil && len(r.rest) > 0 {
		r.fail("bytes after its end")
	}
	return out, r.err
}
