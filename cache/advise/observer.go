package advise

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache"
	"sundry/cache/policy"
	"sundry/metrics/words"
)

const (
	// maxSpaces bounds the spaces that are observed; later ones are not.
	maxSpaces = 128
	// samplesPerSecond is how many requests of a space are looked at in a second, about,
	// and maxWeight bounds how many requests one stands for.
	samplesPerSecond = 64
	maxWeight        = 1 << 16
)

// Observer sees what happens in a cache, and advises. It is safe for concurrent use. It
// holds a request up by no more than a short lock, on a sample of the requests.
//
// Each instance of a fleet advises from what it has seen itself: how old a copy was that a
// refresh replaced is known also where another instance had made it.
type Observer struct {
	mu     sync.RWMutex
	spaces map[string]*space
}

var _ cache.Observer = (*Observer)(nil)

// NewObserver makes an observer that has seen nothing.
func NewObserver() *Observer { return &Observer{spaces: map[string]*space{}} }

// space is what is known of one space.
type space struct {
	mu      sync.Mutex
	seen    Seen
	policy  *policy.Policy // the rule in force; nil: none is
	target  Target
	rule    string    // the rule as ruleOf has it
	since   time.Time // when it took effect
	version uint64    // of what makes the content, that all of this is about
	// predicted is what the rule was to lead to when it took effect; nil: nobody knew.
	predicted *Rule
	report    *Report // the latest; nil: there was none yet

	second  int64 // in which samples were counted
	samples int
}

// Filled is to be told of fills, by OnFill of a cache.
func (o *Observer) Filled(f cache.Filled) {
	found, ok := ParseOutcome(f.Outcome())
	s := o.space(f.Space)
	if s == nil || !ok {
		return
	}
	age := time.Duration(0)
	if !f.Before.IsZero() {
		age = f.At.Sub(f.Before)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Refresh(uint32(f.Key), f.At, age, found)
}

// Requested implements cache.Observer.
func (o *Observer) Requested(name string, key uint64, weight uint32, now time.Time) (next uint32) {
	s := o.space(name)
	if s == nil {
		return maxWeight
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.policy != nil {
		s.seen.Request(uint32(key), now, int(weight), s.policy.TTL)
	}
	return s.nextWeight(weight, now.Unix())
}

// nextWeight doubles the weight when too many samples come in a second, and lowers it
// again when few do.
func (s *space) nextWeight(weight uint32, second int64) uint32 {
	if passed := second - s.second; passed != 0 {
		rate := s.samples / int(max(1, min(passed, 60)))
		s.second, s.samples = second, 1
		switch {
		case passed > 10:
			return 1
		case rate < samplesPerSecond/4:
			return max(1, weight/2)
		}
		return weight
	}
	if s.samples++; s.samples <= samplesPerSecond || weight >= maxWeight {
		return weight
	}
	s.samples = 0
	return weight * 2
}

// space returns nil for one too many, and for what is cached beside an endpoint's answers,
// such as sjbz/pictures, on which nobody asks for advice.
func (o *Observer) space(name string) *space {
	o.mu.RLock()
	s := o.spaces[name]
	o.mu.RUnlock()
	if s != nil || strings.Contains(name, "/") {
		return s
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if s = o.spaces[name]; s == nil && len(o.spaces) < maxSpaces {
		s = &space{}
		o.spaces[name] = s
	}
	return s
}

// InForce is the rule of a space.
type InForce struct {
	Space  string
	Policy *policy.Policy
	Target Target
	// Version of what makes the content: what was seen of another one is forgotten.
	Version string
}

// Rules tells of all rules that are in force from now on. Spaces without one are forgotten.
func (o *Observer) Rules(all []InForce, now time.Time) {
	ruled := map[string]bool{}
	for i := range all {
		ruled[all[i].Space] = true
		if s := o.space(all[i].Space); s != nil {
			s.inForce(&all[i], now)
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	maps.DeleteFunc(o.spaces, func(name string, _ *space) bool { return !ruled[name] })
}

func (s *space) inForce(f *InForce, now time.Time) {
	policy, rule, version := *f.Policy, ruleOf(f.Policy), xxhash.Sum64String(f.Version)
	s.mu.Lock()
	if s.version != version {
		s.seen, s.predicted, s.report, s.rule = Seen{}, nil, nil, ""
	}
	s.policy, s.target, s.version = &policy, f.Target, version
	changes := s.rule != rule
	if s.rule = rule; changes {
		s.since, s.predicted = now, nil
	}
	s.mu.Unlock()
	if changes {
		s.predict(&policy, rule)
	}
}

// predict notes what a rule that takes effect is to lead to.
func (s *space) predict(policy *policy.Policy, rule string) {
	past := s.past(time.Time{})
	if past.evidence.Refreshes < fewestLooks {
		return
	}
	predicted := past.Rule(policy)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rule == rule {
		s.predicted = &predicted
	}
}

// ruleOf tells apart rules with other outcomes.
func ruleOf(p *policy.Policy) string {
	rule := p.TTL.String() + " " + p.Grace.String()
	if p.Until != nil {
		rule += " " + p.Poll.String() + " " + p.Until.String()
	}
	return rule
}

// past is what was seen since a time, without holding up who requests meanwhile.
func (s *space) past(since time.Time) *Past {
	s.mu.Lock()
	seen := s.seen
	seen.events = slices.Clone(s.seen.events)
	s.mu.Unlock()
	seen.forgetUntil(since)
	return seen.Past()
}

// Report is an advice, and what has come of the rule in force.
type Report struct {
	Advice
	// Present TTL, in force since Since.
	Present time.Duration
	Since   time.Time
	// Seen is what the rule in force has led to since then, and Predicted what it was to
	// lead to when it took effect; nil: not known.
	Seen, Predicted *Rule
}

// Report advises on a space, on further TTLs too. The zero target is that of the rule in
// force.
func (o *Observer) Report(name string, ttls []time.Duration, target Target) (Report, bool) {
	s := o.known(name)
	if s == nil {
		return Report{}, false
	}
	s.mu.Lock()
	policy, since, predicted := s.policy, s.since, s.predicted
	if target == (Target{}) {
		target = s.target
	}
	s.mu.Unlock()
	if policy == nil {
		return Report{}, false
	}
	r := Report{Present: policy.TTL, Since: since, Predicted: predicted}
	ladder := Ladder(policy.TTL)
	for _, ttl := range ttls {
		if !slices.Contains(ladder, ttl) {
			ladder = append(ladder, ttl)
		}
	}
	slices.Sort(ladder)
	past := s.past(time.Time{})
	r.Advice = past.Advise(policy, ladder, target)
	if since.UnixMilli() > past.from {
		past = s.past(since) // else all of it is of the rule in force
	}
	if past.evidence.Refreshes > 0 {
		seen := past.Rule(policy)
		r.Seen = &seen
	}
	return r, true
}

// Step is the TTL that the controller sets next within bounds, and why; the present one
// for no step. Since is when the TTL was last set, as far as is stored.
func (o *Observer) Step(name string, since, now time.Time) (ttl time.Duration, why words.Text, ok bool) {
	s := o.known(name)
	if s == nil {
		return 0, words.Text{}, false
	}
	s.mu.Lock()
	policy, target := s.policy, s.target
	if s.since.After(since) {
		since = s.since
	}
	s.mu.Unlock()
	if policy == nil || policy.Until != nil || policy.TTL == 0 {
		return 0, words.Text{}, false
	}
	ttl, why = Step(s.past(since), policy, target, since, now)
	return ttl, why, true
}

// Update makes the reports that the metrics show.
func (o *Observer) Update() {
	for name, s := range o.all() {
		r, ok := o.Report(name, nil, Target{})
		if !ok {
			continue
		}
		s.mu.Lock()
		s.report = &r
		s.mu.Unlock()
	}
}

func (o *Observer) known(name string) *space {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.spaces[name]
}

func (o *Observer) all() map[string]*space {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return maps.Clone(o.spaces)
}
