package status

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"time"
)

// Subject is an endpoint that there is something to say about.
type Subject struct {
	Name string
	// Blocked means that none of its sources may be called at present.
	Blocked bool
	// Fallback means that a last resort gave all answers lately.
	Fallback bool
}

// Report is what the public is told.
type Report struct {
	// At is when it was made, and From when the first half hour begins. The last one is not over.
	At, From time.Time
	// FirstDay is when the first of the days begins, and Since when the record of them does.
	FirstDay, Since time.Time
	Endpoints       []Endpoint
	// Incidents are the latest of these days, the latest first.
	Incidents []Incident
	seed      string
}

// Endpoint is what the public is told of one.
type Endpoint struct {
	Name  string
	State State // now
	// Blocked, as of its Subject.
	Blocked bool
	// Day are the shares of the last 24 hours, and HalfHours their bars, the oldest first: what this instance saw. The
	// zero value: nobody has asked.
	Day       Shares
	HalfHours []Bar
	// Uptime is the share of the requests of all Days that were answered, in percent, rounded down; nil: nobody has asked.
	Uptime *float64
	// Days are the shares of each, the oldest first, and Bars draw them.
	Days []Shares
	Bars []Bar
}

// incidentsTold is how many incidents a report has at most.
const incidentsTold = 50

// Of makes the report about the subjects, in their order.
func Of(v *View, r *Record, at time.Time, subjects []Subject) Report {
	at = at.UTC()
	out := Report{At: at, From: v.DayFrom, FirstDay: startOf(number(at, day)-Days+1, day), Since: r.Since, seed: r.Seed}
	for _, s := range subjects {
		line, p := v.Endpoints[s.Name], r.of(s.Name)
		e := Endpoint{Name: s.Name, State: stateNow(p, at, s.Blocked), Blocked: s.Blocked}
		if s.Fallback && e.State == Works {
			e.State = Fallback
		}
		e.addHalfHours(&line)
		e.addDays(p, number(out.FirstDay, day))
		out.Endpoints = append(out.Endpoints, e)
	}
	for _, in := range slices.Backward(r.Incidents) {
		told := len(in.Spells) > 0 && in.Until().After(out.FirstDay) && !in.Begin.After(at)
		if told && len(out.Incidents) < incidentsTold {
			out.Incidents = append(out.Incidents, in)
		}
	}
	return out
}

func (e *Endpoint) addHalfHours(line *Line) {
	e.HalfHours = make([]Bar, HalfHours)
	var all Counts
	for i := range line.Day {
		all.Add(&line.Day[i].Counts)
		e.HalfHours[i] = barOf(line.Day[i].tally())
	}
	e.Day = sharesOf(all.tally())
}

func (e *Endpoint) addDays(p *past, first int64) {
	var all Tally
	for n := first; n < first+Days; n++ {
		t := p.Days[n]
		all = all.plus(t)
		e.Days, e.Bars = append(e.Days, sharesOf(t)), append(e.Bars, dayBarOf(t))
	}
	if judged := all.judged(); judged > 0 {
		e.Uptime = new(math.Floor(float64(all[0]+all[1])/float64(judged)*1e4) / 100)
	}
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
func (r *Report) Trouble() (n int) {
	for i := range r.Endpoints {
		if r.Endpoints[i].State.Trouble() {
			n++
		}
	}
	return n
}

// TroubleSince is when an endpoint got into the trouble that is not over; the zero time: it is not known.
func (r *Report) TroubleSince(name string) time.Time {
	for i := range r.Incidents {
		for _, s := range r.Incidents[i].Spells {
			if s.Endpoint == name && !s.Over {
				return s.From
			}
		}
	}
	return time.Time{}
}

// Worst is the worst state of any endpoint; Unknown without any.
func (r *Report) Worst() (worst State) {
	for i := range r.Endpoints {
		worst = max(worst, r.Endpoints[i].State)
	}
	return worst
}

// Updated is when something was last found out about any incident, or else when the record began.
func (r *Report) Updated() time.Time {
	updated := r.Since
	for i := range r.Incidents {
		if at := r.Incidents[i].Updated; at.After(updated) {
			updated = at
		}
	}
	return updated
}

// IncidentID is that of an incident.
func (r *Report) IncidentID(in *Incident) string { return r.ID(in.Begin.Format(time.RFC3339)) }

// ID names something of this service for all time, as a URN (RFC 9562, version 8).
func (r *Report) ID(of string) string {
	sum := sha256.Sum256([]byte(r.seed + " " + of))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
