package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sundry/upstreams"
)

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
	c := Change{By: by, Do: r.Do, Target: r.Target, Undoes: seq, Force: upstreams.Unforced.String()}
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
			c.Knobs, c.Force, c.For = nil, upstreams.Unforced.String(), 0 // it has ended by now
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
func (s *Settings) Held(now time.Time) map[string]upstreams.Force {
	held := map[string]upstreams.Force{}
	for host, b := range s.Breakers {
		f, err := upstreams.ParseForce(b.Force)
		if err == nil && (b.Until.IsZero() || now.Before(b.Until)) {
			held[host] = f
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
