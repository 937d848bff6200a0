package catalog

import (
	"slices"
	"time"

	"sundry/cache/advise"
	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/jq"
)

// Endpoint is a compiled catalog file. It is not changed once it is compiled.
type Endpoint struct {
	Name  string
	Group string
	// Title is the name that people read.
	Title  words.Text
	EN, ZH string
	// Keywords are further words by which people look for it.
	Keywords []string
	Params   []*Param
	// Fields of the data of json forms; nil: the file does not declare them.
	Fields []*Field
	Forms  []*Form
	Chains []*Chain
	Policy policy.Policy
	// Base is the policy without settings made while the service runs.
	Base policy.Policy
	// Target of the ttl, by which advice and autopilot go.
	Target advise.Target
	// Autopilot are the bounds within which the TTL is set without an operator; nil: it is
	// not.
	Autopilot *Bounds
	Warm      bool
	// File it came from.
	File string
	// Own: it is the operator's, and not one that comes with the program.
	Own        bool
	edition    *jq.Program
	fresh      *jq.Program
	leastFresh time.Duration // that it says; 0: not known
	notFound   notFound
	group      Group
	groupLine  int
	rest       *Param // the parameter whose value may contain an unescaped &; nil for none
	env        *upstreams.Environment
	places     map[string]Mistake // of its parts
}

// Replayed reports whether recorded exchanges replace its upstreams.
func (e *Endpoint) Replayed() bool { return e.env.Replay != nil }

// Sources lists every source with its chain, in order.
func (e *Endpoint) Sources() []*upstreams.Source {
	var all []*upstreams.Source
	for _, c := range e.Chains {
		all = append(all, c.Sources...)
	}
	return all
}

// FirstChain is the first chain with a source of that name; nil: none has it.
func (e *Endpoint) FirstChain(source string) *Chain {
	for _, c := range e.Chains {
		if slices.ContainsFunc(c.Declared, func(s *upstreams.Source) bool { return s.Declared == source }) {
			return c
		}
	}
	return nil
}

// TakesSecrets reports whether a part of its input is known to some alone, such as the
// digits that show a parcel's trace.
func (e *Endpoint) TakesSecrets() bool {
	return slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Spec.Private })
}

// LimitsItself reports whether answers may be fresh for less than the policy says, by
// what is in them.
func (e *Endpoint) LimitsItself() bool {
	return e.fresh != nil || e.expires()
}

// expires reports whether a source says when its answers end.
func (e *Endpoint) expires() bool {
	return slices.ContainsFunc(e.Sources(), func(s *upstreams.Source) bool { return s.Expires != nil })
}

// HasLastResort reports whether a source is a last resort.
func (e *Endpoint) HasLastResort() bool {
	return slices.ContainsFunc(e.Sources(), func(s *upstreams.Source) bool { return s.LastResort })
}

// LeastFresh is for how long answers are fresh at least where LimitsItself; 0: the file does not
// tell.
func (e *Endpoint) LeastFresh() time.Duration {
	if e.expires() {
		return 0
	}
	return e.leastFresh
}

// Personal reports whether the endpoint's input is personal data.
func (e *Endpoint) Personal() bool {
	return slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Personal })
}
