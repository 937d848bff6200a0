package catalog

import (
	"math/rand/v2"
	"slices"
	"time"

	"sundry/upstreams/declare"
	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/ipcard"
)

// Sources of values that are not in a query (from: in a catalog file).
const (
	fromCaller  = "caller"
	fromAddress = "address"
	fromAgent   = "agent"
	fromToday   = "today"
)

// derivation makes the value of a derived parameter: one that follows from the
// request and cannot be set in a query.
type derivation func(caller Caller, now func() time.Time) any

// derivationOf is nil for parameters of the query.
func derivationOf(from string) derivation {
	switch from {
	case fromAddress:
		return callerAddress
	case fromAgent:
		return callerAgent
	case fromToday:
		return func(_ Caller, now func() time.Time) any { return now().In(chinatime.Zone()).Format("01-02") }
	}
	return nil
}

func callerAddress(c Caller, _ func() time.Time) any { return c.Addr.Unmap().WithZone("").String() }

// callerAgent names system and browser, on a line each.
func callerAgent(c Caller, _ func() time.Time) any {
	system, browser := ipcard.Describe(c.Header.Get("User-Agent"))
	return system + "\n" + browser
}

// substitution replaces a value for this request only. Where it was drawn, it tells what from.
type substitution func(v any, caller Caller) (by any, from *urn)

// urn holds values of which one is drawn at random, all as likely.
type urn struct{ values []string }

func (u *urn) draw() string { return u.values[rand.IntN(len(u.values))] }

// compileSubstitution checks device: and pick:, whose results must be allowed values.
func (p *Param) compileSubstitution(s *paramSpec, problems *declare.Problems) {
	allowed := func(v string) {
		if !slices.Contains(s.Enum, v) {
			problems.Add(s.Name.Line, "param %s: device and pick: expected values of its enum, got %q", p.Name, v)
		}
	}
	for v, d := range s.Device {
		allowed(v)
		allowed(d.Phone)
		allowed(d.Other)
	}
	for v, list := range s.Pick {
		allowed(v)
		for _, other := range list {
			allowed(other)
		}
	}
	if s.Device == nil && s.Pick == nil {
		return
	}
	urns := map[string]*urn{}
	for v, list := range s.Pick {
		if len(list) > 0 {
			urns[v] = &urn{list}
		}
	}
	p.substitute = func(v any, caller Caller) (any, *urn) {
		name, _ := v.(string)
		if d, ok := s.Device[name]; ok {
			return d.of(caller), nil
		}
		if from := urns[name]; from != nil {
			return from.draw(), from
		}
		return v, nil
	}
}

// draws reports whether a value stands for others, of which one is drawn.
func (p *Param) draws(v any, caller Caller) bool {
	if p.substitute == nil {
		return false
	}
	_, from := p.substitute(v, caller)
	return from != nil
}

// of is the value for the caller's device. A phone is recognized by the client hint
// Sec-CH-UA-Mobile where it is sent, else by the User-Agent.
func (d deviceSpec) of(c Caller) any {
	hint, phone := c.Header.Get("Sec-Ch-Ua-Mobile"), false
	switch hint {
	case "?1", "?0":
		phone = hint == "?1"
	default:
		phone = ipcard.Mobile(c.Header.Get("User-Agent"))
	}
	if phone {
		return d.Phone
	}
	return d.Other
}
