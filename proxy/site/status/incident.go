package status

import (
	"maps"
	"slices"
	"time"
)

// The rules of incidents. A share of failures means nothing of a few requests: one caller with an address that nobody
// can reach would be an outage.
const (
	// enough is how many requests, within window slots at most, say that an endpoint has got into trouble; they are at
	// least those of this slot and the one before, so that a bad second is no incident.
	enough = 10
	// calm is how long there has to be no slot in trouble, and recovered how many requests there have to be meanwhile, until
	// it is over.
	calm      = 15 * time.Minute
	recovered = 3
	// silent is how long nobody has to ask until it counts as over all the same: no requests are no proof of either.
	silent = 24 * time.Hour
	// together: what begins within so much of the beginning of an incident belongs to it.
	together = 15 * time.Minute
)

// Incident is a time in which endpoints that got into trouble at about the same time were in it.
type Incident struct {
	// Begin is when the first of them got into it, as was found first: what the incident is known by.
	Begin time.Time `json:"begin"`
	// Updated is when something was last found out: another endpoint, a worse state, an end.
	Updated time.Time `json:"updated"`
	Spells  []Spell   `json:"spells"`
}

// Spell is what an endpoint has to do with an incident.
type Spell struct {
	Endpoint string    `json:"endpoint"`
	From     time.Time `json:"from"`
	// Until is when the last slot in trouble ended.
	Until time.Time `json:"until"`
	Over  bool      `json:"over"`
	State State     `json:"state"` // the worst
}

// Over reports whether none of the endpoints is in trouble any more.
func (i *Incident) Over() bool {
	return !slices.ContainsFunc(i.Spells, func(s Spell) bool { return !s.Over })
}

// Until is when the last endpoint was in trouble.
func (i *Incident) Until() (until time.Time) {
	for _, s := range i.Spells {
		if s.Until.After(until) {
			until = s.Until
		}
	}
	return until
}

// State is the worst of any endpoint.
func (i *Incident) State() (worst State) {
	for _, s := range i.Spells {
		worst = max(worst, s.State)
	}
	return worst
}

// Endpoints are their names, in order.
func (i *Incident) Endpoints() (names []string) {
	for _, s := range i.Spells {
		names = append(names, s.Endpoint)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// begins reports since which slot an endpoint is in trouble, and in which. What was before the slot first does not count.
func begins(slots map[int64]Tally, first, current int64) (from int64, s State) {
	var all Tally
	for n := current; n >= max(first, current-window+1); n-- {
		all = all.plus(slots[n])
		if stateOf(slots[n]).Trouble() {
			from = n
		}
		if n < current && all.judged() >= enough {
			return from, stateOf(all)
		}
	}
	return 0, Unknown
}

// follow goes on with a spell that is not over, and reports whether there is news of it.
func (s *Spell) follow(slots map[int64]Tally, now time.Time) bool {
	before, current := s.State, number(now, slot)
	var since uint64
	for n := max(number(s.Until, slot), current-window); n <= current; n++ {
		since += slots[n].judged()
		if is := stateOf(slots[n]); is.Trouble() {
			s.Until, s.State, since = startOf(n+1, slot), max(s.State, is), 0
		}
	}
	quiet := now.Sub(s.Until)
	s.Over = quiet >= calm && since >= recovered || quiet >= silent
	return s.Over || s.State != before
}

// Judge brings the incidents up to date with what was counted.
func (r *Record) Judge(now time.Time) {
	at := now.UTC().Truncate(time.Second)
	for i := range r.Incidents {
		in := &r.Incidents[i]
		for j := range in.Spells {
			if s := &in.Spells[j]; !s.Over && s.follow(r.slotsOf(s.Endpoint), now) {
				in.Updated = at
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Endpoints)) {
		current := number(now, slot)
		first := current - window
		if last := r.latest(name, now); last != nil && !last.Over {
			continue
		} else if last != nil {
			first = number(last.Until, slot)
		}
		slots := r.slotsOf(name)
		if from, is := begins(slots, first, current); is.Trouble() {
			begin := startOf(from, slot)
			if number(r.Since, slot) == from { // before that, nothing was known
				begin = r.Since
			}
			s := Spell{Endpoint: name, From: begin, Until: begin, State: is}
			s.follow(slots, now)
			in := r.incidentAt(begin)
			in.Updated, in.Spells = at, append(in.Spells, s)
		}
	}
}

func (r *Record) slotsOf(name string) map[int64]Tally {
	if p := r.Endpoints[name]; p != nil {
		return p.Slots
	}
	return nil
}

// latest is the last spell of an endpoint; nil for none. One far in the future is of a clock that was wrong.
func (r *Record) latest(name string, now time.Time) (last *Spell) {
	for i := range r.Incidents {
		for j := range r.Incidents[i].Spells {
			s := &r.Incidents[i].Spells[j]
			if s.Endpoint == name && s.Until.Before(now.Add(window*slot)) && (last == nil || !s.Until.Before(last.Until)) {
				last = s
			}
		}
	}
	return last
}

// incidentAt is the one that what begins then belongs to: one that there is, or a new one.
func (r *Record) incidentAt(begin time.Time) *Incident {
	for i := range slices.Backward(r.Incidents) {
		if in := &r.Incidents[i]; begin.Sub(in.Begin).Abs() <= together && !in.Over() {
			return in
		}
	}
	r.Incidents = append(r.Incidents, Incident{Begin: begin})
	return &r.Incidents[len(r.Incidents)-1]
}
