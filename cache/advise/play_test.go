package advise_test

// Advice is judged by brute force: by worlds in which it is known when each content changes, and
// a cache of its own that plays any rule over them. That says what is fresh by the words of the
// design alone, and shares no code with what it judges.

import (
	"math/rand/v2"
	"slices"
	"time"
)

// World is what happens, and how much is noted of it.
type World struct {
	Name       string
	Keys       int
	TTL, Grace time.Duration
	// Observe is how long it is watched, and After how long the time is that it is judged
	// by; 0: twice as long. What drifts, is watched all the time.
	Observe, After time.Duration
	Changes, Asks  Times

	// One in Sample hits is noted, as so many; 0: each.
	Sample int
	// Nothing is noted between Lost, and no load succeeds between Outage.
	Lost, Outage [2]time.Duration
	// Purges come at random at this mean interval; 0: never.
	Purges time.Duration
	// Memory is how many keys there is room for; 0: all.
	Memory int
	// Instances share what they have loaded (Redis), and their requests; 0: one.
	Instances int
	// Other is when a second source answers, whose content looks different.
	Other func(at time.Duration) bool
	// Lag is how far the second of two servers of a source is behind.
	Lag time.Duration
}

// Epoch is when worlds begin: a Monday.
func Epoch() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

// Story is a world as it came about by a seed.
type Story struct {
	*World
	asks    []ask
	changes [][]time.Duration
	purges  []time.Duration
}

type ask struct {
	at            time.Duration
	key, instance int
}

// Tell draws what happens until a time.
func (w *World) Tell(seed uint64, until time.Duration) *Story {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &Story{World: w}
	for key := range w.Keys {
		s.changes = append(s.changes, w.Changes(r, key, until))
		for _, at := range w.Asks(r, key, until) {
			s.asks = append(s.asks, ask{at, key, r.IntN(max(1, w.Instances))})
		}
	}
	slices.SortFunc(s.asks, func(a, b ask) int { return int(a.at - b.at) })
	if w.Purges > 0 {
		s.purges = poisson(w.Purges)(r, 0, until)
	}
	return s
}

// Found is what a refresh found.
type Found int

// What it finds: nothing is known, the same content, another one.
const (
	Unknown Found = iota
	Same
	Another
)

// Notes is who writes down what can be seen.
type Notes interface {
	Request(instance, key int, at time.Time, weight int, ttl time.Duration)
	Refresh(instance, key int, at time.Time, age time.Duration, found Found)
}

// kept is a copy of a content.
type kept struct {
	there   bool
	born    time.Duration
	life    time.Duration // until it is no longer fresh
	version int           // of the content
	looks   int           // who rendered it
}

// Outcome is what a rule led to.
type Outcome struct {
	Served, Old, Calls int
	Older, PerHour     float64
}

// player is a rule that is played.
type player struct {
	*Story
	ttl    time.Duration
	notes  Notes
	random *rand.Rand
	near   [][]kept
	far    []kept
	order  []int // keys in memory, the oldest first
	seen   []int // changes up to now, by key
	behind []int // changes up to now less the lag, by key
	purged int
	sum    Outcome
}

// Play plays a TTL between two times, with nothing in the cache at first, and has it noted
// if notes is not nil.
func (s *Story) Play(ttl, from, to time.Duration, notes Notes) Outcome {
	p := &player{
		Story: s, ttl: ttl, notes: notes, random: rand.New(rand.NewPCG(7, uint64(from))), far: make([]kept, s.Keys),
		seen: make([]int, s.Keys), behind: make([]int, s.Keys),
	}
	for range max(1, s.Instances) {
		p.near = append(p.near, make([]kept, s.Keys))
	}
	first, _ := slices.BinarySearchFunc(s.asks, from, func(a ask, at time.Duration) int { return int(a.at - at) })
	for _, a := range s.asks[first:] {
		if a.at >= to {
			break
		}
		p.forward(a.key, a.at)
		p.ask(a)
	}
	p.sum.Older = float64(p.sum.Old) / float64(max(1, p.sum.Served))
	p.sum.PerHour = float64(p.sum.Calls) / (to - from).Hours()
	return p.sum
}

// forward does what has happened meanwhile.
func (p *player) forward(key int, now time.Duration) {
	for p.seen[key] < len(p.changes[key]) && p.changes[key][p.seen[key]] <= now {
		p.seen[key]++
	}
	for p.behind[key] < len(p.changes[key]) && p.changes[key][p.behind[key]] <= now-p.Lag {
		p.behind[key]++
	}
	for ; p.purged < len(p.purges) && p.purges[p.purged] <= now; p.purged++ {
		for _, near := range p.near {
			clear(near)
		}
		clear(p.far)
	}
}

func within(at time.Duration, span [2]time.Duration) bool { return at >= span[0] && at < span[1] }

// ask answers a request: a fresh copy; one in the last tenth of its time, or within grace,
// with a refresh behind; else what is loaded.
func (p *player) ask(a ask) {
	have := &p.near[a.instance][a.key]
	fresh := have.there && a.at-have.born < have.life*9/10
	if p.Instances > 1 && !fresh && p.far[a.key].born > have.born {
		*have = p.far[a.key]
		fresh = a.at-have.born < have.life*9/10
	}
	usable := have.there && a.at-have.born < have.life+p.Grace
	if !fresh && usable {
		p.serve(a, have)
	}
	p.note(a, fresh)
	if !fresh {
		p.refresh(a, have)
	}
	if (fresh || !usable) && have.there {
		p.serve(a, have)
	}
}

// serve counts an answer. What is old because no load succeeds, no TTL is to blame for.
func (p *player) serve(a ask, have *kept) {
	if within(a.at, p.Outage) {
		return
	}
	p.sum.Served++
	if have.version != p.seen[a.key] {
		p.sum.Old++
	}
}

func (p *player) note(a ask, hit bool) {
	if p.notes == nil || within(a.at, p.Lost) {
		return
	}
	weight := 1
	if p.Sample > 1 && hit {
		if weight = p.Sample; p.random.IntN(weight) > 0 {
			return
		}
	}
	p.notes.Request(a.instance, a.key, Epoch().Add(a.at), weight, p.ttl)
}

// refresh loads, in no time. A load that fails leaves the copy, which is served for as long
// as that lasts.
func (p *player) refresh(a ask, have *kept) {
	p.sum.Calls++
	if within(a.at, p.Outage) {
		return
	}
	jitter := time.Duration(p.random.Float64() * 0.1 * float64(p.ttl))
	next := kept{there: true, born: a.at, life: p.ttl - jitter, version: p.seen[a.key]}
	if p.Other != nil && p.Other(a.at) {
		next.looks = 1
	}
	if p.Lag > 0 && p.random.IntN(2) > 0 {
		next.version = p.behind[a.key]
	}
	if p.notes != nil && !within(a.at, p.Lost) {
		age, found := a.at-have.born, Same
		switch {
		case !have.there:
			age, found = 0, Unknown
		case have.looks != next.looks:
			found = Unknown
		case have.version != next.version:
			found = Another
		}
		p.notes.Refresh(a.instance, a.key, Epoch().Add(a.at), age, found)
	}
	*have = next
	if p.Instances > 1 {
		p.far[a.key] = next
	}
	p.makeRoom(a)
}

// makeRoom drops what was stored first.
func (p *player) makeRoom(a ask) {
	if p.Memory == 0 {
		return
	}
	if i := slices.Index(p.order, a.key); i >= 0 {
		p.order = slices.Delete(p.order, i, i+1)
	}
	if p.order = append(p.order, a.key); len(p.order) > p.Memory {
		p.near[a.instance][p.order[0]] = kept{}
		p.order = slices.Delete(p.order, 0, 1)
	}
}
