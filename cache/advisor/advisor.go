// Package advisor says which TTL to set, and why. It watches which refreshes find a
// change and which keys are requested, estimates from that how often the content of each
// space changes, and predicts what any rule would lead to: calls, hits, and answers that
// are older than the content.
//
// What it promises: it never slows the cache down by more than a short lock on a sample
// of the requests; its memory is bounded (see maxSpaces); of a key it stores 24 bits of a hash,
// and no more; and where it knows too little, it says so.
//
// It imports the cache, for its policies and their deadlines. The cache does not need it.
package advisor

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache"
)

const (
	// maxSpaces bounds the spaces that are watched; later ones are not. One takes at
	// most 200 KiB for observations, in a fleet twice as much, and 10 KiB for requests;
	// but few have as many observations.
	maxSpaces = 128
	// settle is how long an estimate that takes some time is used again, although there
	// were further observations; one of few takes none.
	settle = 5 * time.Minute
	few    = 100
)

// Config of an Advisor.
type Config struct {
	// Zone is that in which publications are named where a policy has no timetable;
	// nil: UTC.
	Zone *time.Location
}

// Advisor observes a cache and advises. It is safe for concurrent use.
type Advisor struct {
	zone   *time.Location
	mu     sync.RWMutex
	spaces map[string]*space
}

var _ cache.Observer = (*Advisor)(nil)

// New makes an advisor that has seen nothing.
func New(cfg Config) *Advisor {
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return &Advisor{zone: cfg.Zone, spaces: map[string]*space{}}
}

// space is what is known of one space.
type space struct {
	mu      sync.Mutex
	history history
	traffic traffic
	tally   tally
	policy  *cache.Policy // the rule in force; nil: none is
	version uint64        // of what makes the content, that all of this is about; 0: any
	// elsewhere is what the other instances of the fleet know; nil: none is known.
	elsewhere *elsewhere
	estimate  *estimate // nil: nobody has asked

	estimating sync.Mutex // one at a time
}

// estimate is of the change, from what was seen at some time.
type estimate struct {
	change  Change
	sources []SourceChange
	list    []observation // that it is from
	main    string        // the source of most of them
	seen    uint64
	at      time.Time
}

// Filled implements cache.Observer.
func (a *Advisor) Filled(f cache.Filled) {
	s := a.space(f.Space)
	if s == nil || f.Failed {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.add(&f)
	s.traffic.filled(f.Key)
}

// Requested implements cache.Observer.
func (a *Advisor) Requested(name string, key uint64, weight uint32, now time.Time) (next uint32) {
	s := a.space(name)
	if s == nil {
		return maxWeight
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.requests += float64(weight)
	return s.traffic.request(key, weight, now)
}

// Waited implements cache.Observer.
func (a *Advisor) Waited(name string) {
	if s := a.space(name); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tally.waited++
	}
}

// Called implements cache.Observer.
func (a *Advisor) Called(name string) {
	if s := a.space(name); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tally.calls++
	}
}

// space returns nil for one too many, and for what is cached beside an endpoint's answers,
// such as sjbz/pictures, on which nobody asks for advice.
func (a *Advisor) space(name string) *space {
	s := a.known(name)
	if s != nil || strings.Contains(name, "/") {
		return s
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s = a.spaces[name]; s == nil && len(a.spaces) < maxSpaces {
		s = &space{}
		a.spaces[name] = s
	}
	return s
}

// known returns nil for a space that nobody has told of.
func (a *Advisor) known(name string) *space {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.spaces[name]
}

// observed reports whether something was observed of a space, here or elsewhere.
func (a *Advisor) observed(name string) bool {
	s := a.known(name)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.history.list) > 0 || s.traffic.requests > 0 || s.elsewhere != nil
}

// versionOf is never 0 for a version.
func versionOf(version string) uint64 {
	if version == "" {
		return 0
	}
	return max(1, xxhash.Sum64String(version))
}

// ofVersion drops what was observed of another version.
func (s *space) ofVersion(version uint64) {
	s.estimating.Lock()
	defer s.estimating.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version != version && s.version != 0 {
		s.history, s.traffic, s.tally = history{}, traffic{}, tally{}
		s.policy, s.elsewhere, s.estimate = nil, nil, nil
	}
	s.version = version
}

// forget drops the spaces that no rule is for.
func (a *Advisor) forget(ruled map[string]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.spaces, func(name string, _ *space) bool { return !ruled[name] })
}

// Question is what advice is asked for.
type Question struct {
	Space  string
	Policy *cache.Policy
	// Version of what makes the content: what was observed of another one does not count.
	Version string
	// Quota is the calls per hour that the sources allow; 0: no limit is known.
	Quota float64
	Now   time.Time
}

// Advise says what to do about a space's rule.
func (a *Advisor) Advise(q *Question) Advice {
	s := a.known(q.Space)
	if s == nil {
		s = &space{}
	}
	zone := a.zone
	if q.Policy.Until != nil {
		zone = q.Policy.Until.Zone
	}
	e := s.estimated(zone, q.Now)
	advice := Advice{Space: q.Space, Change: e.change, Sources: e.sources}
	advice.Prediction = s.prediction(e, zone, q.Now)
	advice.Prediction.Quota = q.Quota
	advice.RequestsPerSecond, advice.Keys = sumOf(advice.Prediction.Loads), keysOf(advice.Prediction.Loads)
	advice.decide(q.Policy)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tally.rule == ruleOf(q.Policy) {
		sum := s.sum(q.Now)
		old, known := s.oldShare(q.Now)
		advice.Measured, advice.Before, advice.Predicted = sum.measured(q.Now, old, known), sum.before, sum.predicted
	}
	return advice
}

func keysOf(loads []Load) float64 {
	sum := 0.0
	for _, l := range loads {
		sum += l.Keys
	}
	return sum
}

// estimated is the estimate in force, made anew if there is more to go by.
func (s *space) estimated(zone *time.Location, now time.Time) *estimate {
	s.estimating.Lock()
	defer s.estimating.Unlock()
	own, others, e := s.histories(zone, now)
	if e != nil {
		return e
	}
	all := own
	if others != nil { // not while requests wait for the lock
		all = joined(own, others)
		all.makeRoom(now.UnixMilli(), fleetObservations)
	}
	e = &estimate{
		change: changeOf(all.list, zone), sources: changesOfSources(all.list, all.sources, zone),
		list: all.list, main: all.mainSource(), seen: own.seen, at: now,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.estimate = e
	return e
}

// histories are what this instance and the others (nil: none) have observed, or the
// estimate that still holds.
func (s *space) histories(zone *time.Location, now time.Time) (own, others *history, e *estimate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.estimate; e != nil && e.change.Zone == zone.String() && (e.seen == s.history.seen || len(e.list) > few && now.Sub(e.at) < settle) {
		return nil, nil, e
	}
	if s.elsewhere != nil {
		others = s.elsewhere.history
	}
	return &history{list: s.history.recent(now), sources: slices.Clone(s.history.sources), thinned: s.history.thinned, seen: s.history.seen}, others, nil
}

// prediction is what outcomes are predicted from.
func (s *space) prediction(e *estimate, zone *time.Location, now time.Time) Prediction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.predictionFrom(e, zone, now)
}

// predictionFrom is the prediction. The caller holds mu.
func (s *space) predictionFrom(e *estimate, zone *time.Location, now time.Time) Prediction {
	p := Prediction{Loads: alike(s.rates(now).loads()), Zone: zone, Source: e.main}
	p.ChangeRate, _ = e.change.rate()
	if e.change.Kind == Periodic {
		p.Period, p.Phase, p.Times = e.change.Interval, e.change.Phase, e.change.Times
	}
	return p
}

// rates are those of all instances. The caller holds mu.
func (s *space) rates(now time.Time) *rates {
	r := s.traffic.rates(now)
	if s.elsewhere != nil {
		r.add(s.elsewhere.rates)
	}
	return r
}
