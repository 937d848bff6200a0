// Package live is what operators change while Sundry runs: cache settings,
// held breakers, purges and one-off orders. It promises that a change is either
// refused, or in force on this instance at once and on every other one as soon
// as the store that they share can be reached; that no purge is lost, whatever
// becomes of the store; and that settings survive a restart where there is
// somewhere to keep them.
package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"sundry/cache"
	"sundry/upstreams/host"
)

// Bounds of what is remembered.
const (
	auditMax = 200
	orderMax = 50
)

// Settings are what operators changed while it runs: one document that all
// instances share, and that survives a restart where there is somewhere to keep
// it. Its methods are pure rules; time is an argument.
type Settings struct {
	// Seq counts the changes.
	Seq int64 `json:"seq"`
	// Knobs of cache rules, by endpoint.
	Knobs map[string]KnobSetting `json:"knobs,omitempty"`
	// Breakers that are held, by host.
	Breakers map[string]BreakerSetting `json:"breakers,omitempty"`
	// Purges by endpoint, or for all.
	Purges map[string]cache.Purge `json:"purges,omitempty"`
	// Orders are carried out once by every instance, the newest last.
	Orders []Order `json:"orders,omitempty"`
	// Audit says who changed what, the newest last.
	Audit []Record `json:"audit,omitempty"`
}

// KnobSetting is an endpoint's.
type KnobSetting struct {
	Values map[string]string `json:"values"`
	// Until it ends by itself; zero: it does not.
	Until time.Time `json:"until,omitzero"`
}

// BreakerSetting is a host's.
type BreakerSetting struct {
	Force string    `json:"force"` // open or closed
	Until time.Time `json:"until,omitzero"`
}

// Record is one change.
type Record struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Do     string    `json:"do"` // knobs, breaker, purge, drop, reset; restore: see reconcile; overtaken: see replay
	Target string    `json:"target"`
	// Before and After are the settings of the target; null for none.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Note is soft or hard of a purge, the key of a drop, and why of a restore.
	Note string `json:"note,omitempty"`
	// Undoes is the change that this one took back; 0: none.
	Undoes int64 `json:"undoes,omitempty"`
}

// Change is what an operator wants.
type Change struct {
	By     string
	Do     string
	Target string
	Knobs  map[string]string // of knobs; empty: back to the file
	Force  string            // of breaker: auto, open or closed
	Key    string            // of drop
	Hard   bool              // of purge
	// For bounds knobs and breaker in time; 0: they stay.
	For    time.Duration
	Undoes int64
}

// With is the settings after a change; the receiver stays as it is.
func (s *Settings) With(c Change, now time.Time) (*Settings, error) {
	next := s.clone()
	next.Seq++
	r := Record{Seq: next.Seq, At: moment(now), By: c.By, Do: c.Do, Target: c.Target, Note: c.note(), Undoes: c.Undoes}
	r.Before = s.state(c.Do, c.Target)
	var until time.Time
	if c.For > 0 {
		until = r.At.Add(c.For)
	}
	switch c.Do {
	case "knobs":
		put(&next.Knobs, c.Target, KnobSetting{c.Knobs, until}, len(c.Knobs) > 0)
	case "breaker":
		if _, err := host.ParseForce(c.Force); err != nil {
			return nil, err
		}
		put(&next.Breakers, c.Target, BreakerSetting{c.Force, until}, c.Force != host.Unforced.String())
	case "purge":
		next.purge(c, r.At)
	case "drop", "reset":
		next.Orders = last(append(next.Orders, Order{next.Seq, r.At, c.Do, c.Target, c.Key}), orderMax)
	default:
		return nil, fmt.Errorf("%q: no such change", c.Do)
	}
	r.After = next.state(c.Do, c.Target)
	next.Audit = last(append(next.Audit, r), auditMax)
	return next, nil
}

// note is what the record of a change says beside its target.
func (c *Change) note() string {
	switch {
	case c.Do == "purge" && c.Hard:
		return "hard"
	case c.Do == "purge":
		return "soft"
	}
	return c.Key
}

func (s *Settings) purge(c Change, now time.Time) {
	m := s.Purges[c.Target]
	if c.Hard {
		m.Hard = later(m.Hard, now)
	} else {
		m.Soft = later(m.Soft, now)
	}
	put(&s.Purges, c.Target, m, true)
}

// put sets or removes a value of a map that may be nil.
func put[V any](m *map[string]V, key string, v V, keep bool) {
	if !keep {
		delete(*m, key)
		return
	}
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

func last[T any](list []T, most int) []T { return list[max(0, len(list)-most):] }

func (s *Settings) clone() *Settings {
	next := *s
	next.Knobs, next.Breakers, next.Purges = maps.Clone(s.Knobs), maps.Clone(s.Breakers), maps.Clone(s.Purges)
	next.Orders, next.Audit = slices.Clone(s.Orders), slices.Clone(s.Audit)
	return &next
}

// state is what is set of a target, as the audit keeps it.
func (s *Settings) state(do, target string) json.RawMessage {
	var v any
	switch do {
	case "knobs":
		if k, ok := s.Knobs[target]; ok {
			v = k
		}
	case "breaker":
		if b, ok := s.Breakers[target]; ok {
			v = b
		}
	}
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil // of strings and times, which always encode
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Undo is the change that takes a record back, as far as it is still in time.
func (s *Settings) Undo(seq int64, by string, now time.Time) (Change, error) {
	numbered := func(r Record) bool { return r.Seq == seq }
	i := slices.IndexFunc(s.Audit, numbered)
	if i < 0 {
		return Change{}, fmt.Errorf("change %d: not remembered", seq)
	}
	if slices.ContainsFunc(s.Audit[i+1:], numbered) {
		return Change{}, fmt.Errorf("change %d: there are two of this number, since the store went back in time; set what you want instead", seq)
	}
	r := s.Audit[i]
	c := Change{By: by, Do: r.Do, Target: r.Target, Undoes: seq, Force: host.Unforced.String()}
	var until time.Time
	switch r.Do {
	case "knobs":
		var k KnobSetting
		if r.Before != nil && json.Unmarshal(r.Before, &k) == nil {
			c.Knobs, until = k.Values, k.Until
		}
	case "breaker":
		var b BreakerSetting
		if r.Before != nil && json.Unmarshal(r.Before, &b) == nil {
			c.Force, until = b.Force, b.Until
		}
	default:
		return Change{}, fmt.Errorf("change %d: a %s cannot be taken back", seq, r.Do)
	}
	if !until.IsZero() {
		if c.For = until.Sub(now); c.For <= 0 {
			c.Knobs, c.Force, c.For = nil, host.Unforced.String(), 0 // it has ended by now
		}
	}
	return c, nil
}

// Live are the knobs in force at a time.
func (s *Settings) Live(now time.Time) map[string]map[string]string {
	live := map[string]map[string]string{}
	for name, k := range s.Knobs {
		if k.Until.IsZero() || now.Before(k.Until) {
			live[name] = k.Values
		}
	}
	return live
}

// Held are the breakers held at a time.
func (s *Settings) Held(now time.Time) map[string]host.Force {
	held := map[string]host.Force{}
	for name, b := range s.Breakers {
		f, err := host.ParseForce(b.Force)
		if err == nil && (b.Until.IsZero() || now.Before(b.Until)) {
			held[name] = f
		}
	}
	return held
}

// Next is when something ends by itself after now; zero: nothing does.
func (s *Settings) Next(now time.Time) time.Time {
	var next time.Time
	consider := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, k := range s.Knobs {
		consider(k.Until)
	}
	for _, b := range s.Breakers {
		consider(b.Until)
	}
	return next
}
