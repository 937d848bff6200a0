package status

import (
	"slices"
	"time"
)

// Subject is an endpoint that there is something to say about.
type Subject struct {
	Name string
	// Blocked means that none of its sources may be called at present.
	Blocked bool
}

// Report is what the public is told.
type Report struct {
	// At is when it was made, and From when the first bars begin. A bar is of
	// HalfHour, and the last one is not over.
	At, From  time.Time
	Endpoints []Endpoint
}

// Endpoint is what the public is told of one.
type Endpoint struct {
	Name  string
	State State // now
	// Day are the shares of the last day; the zero value: nobody has asked.
	Day Shares
	// Bars are HalfHours, the oldest first.
	Bars []Bar
}

// Of makes the report about the subjects, in their order.
func Of(v *View, at time.Time, subjects []Subject) Report {
	r := Report{At: at.UTC(), From: v.DayFrom, Endpoints: make([]Endpoint, len(subjects))}
	for i, s := range subjects {
		line := v.Endpoints[s.Name]
		r.Endpoints[i] = endpointOf(s, &line)
	}
	return r
}

func endpointOf(s Subject, line *Line) Endpoint {
	e := Endpoint{Name: s.Name, State: stateNow(line, s.Blocked), Bars: make([]Bar, HalfHours)}
	var day Counts
	for i := range line.Day {
		day.Add(&line.Day[i].Counts)
		e.Bars[i] = barOf(&line.Day[i].Counts)
	}
	e.Day = sharesOf(&day)
	return e
}

// Count is how many endpoints are in the state.
func (r *Report) Count(s State) (n int) {
	for i := range r.Endpoints {
		if r.Endpoints[i].State == s {
			n++
		}
	}
	return n
}

// Trouble is how many endpoints are in trouble.
func (r *Report) Trouble() int { return r.Count(Stale) + r.Count(Failing) }

// Spell is a time during which an endpoint was in trouble.
type Spell struct {
	From, Until time.Time
	State       State
}

// Spells are the times of the last day in which the endpoint was in trouble, the latest
// first. The latest may not be over at its end.
func (r *Report) Spells(e *Endpoint) []Spell {
	var all []Spell
	for i, bar := range slices.Backward(e.Bars) {
		from, state := r.From.Add(time.Duration(i)*HalfHour), bar.State()
		last := len(all) - 1
		switch {
		case !state.Trouble():
		case last >= 0 && all[last].State == state && all[last].From.Equal(from.Add(HalfHour)):
			all[last].From = from
		default:
			all = append(all, Spell{from, from.Add(HalfHour), state})
		}
	}
	return all
}
