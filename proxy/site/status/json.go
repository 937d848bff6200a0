package status

import (
	"encoding/json"
	"time"
)

// document is status.json.
type document struct {
	At      time.Time `json:"at"`
	Trouble int       `json:"trouble"` // endpoints that are in trouble now
	// From is when the first of the bars begins, and Seconds how long each lasts.
	From    time.Time `json:"from"`
	Seconds int       `json:"seconds"`
	// FirstDay is the first of Days, and Since when they began to be kept.
	FirstDay  string                 `json:"days_from"`
	Since     time.Time              `json:"since"`
	Endpoints map[string]endpointDoc `json:"endpoints"`
	Incidents []incidentDoc          `json:"incidents"`
}

// endpointDoc is an endpoint in status.json.
type endpointDoc struct {
	State  State          `json:"state"`
	Day    *Shares        `json:"day"` // null: nobody has asked
	Bars   lists[int]     `json:"bars"`
	Uptime *float64       `json:"uptime"` // null: nobody has asked
	Days   lists[float64] `json:"days"`
}

// lists have a value for each half hour, in percent, in steps of ten, or for each day; null: unknown.
type lists[T int | float64] struct {
	Works   []*T `json:"works"`
	Stale   []*T `json:"stale"`
	Failing []*T `json:"failing"`
}

func (l *lists[T]) add(known bool, works, stale, failing T) {
	if !known {
		l.Works, l.Stale, l.Failing = append(l.Works, nil), append(l.Stale, nil), append(l.Failing, nil)
		return
	}
	l.Works, l.Stale, l.Failing = append(l.Works, &works), append(l.Stale, &stale), append(l.Failing, &failing)
}

// incidentDoc is an incident in status.json.
type incidentDoc struct {
	ID        string     `json:"id"`
	From      time.Time  `json:"from"`
	Until     *time.Time `json:"until"` // null: it is not over
	State     State      `json:"state"`
	Endpoints []string   `json:"endpoints"`
}

// Now is what status.json says of the present: the states of the endpoints, without their history.
type Now struct {
	At        time.Time           `json:"at"`
	Trouble   int                 `json:"trouble"`
	Endpoints map[string]StateNow `json:"endpoints"`
}

// StateNow is an endpoint in Now.
type StateNow struct {
	State State `json:"state"`
}

// Now is the report without its history.
func (r *Report) Now() *Now {
	n := &Now{At: r.At.Truncate(time.Second), Trouble: r.Trouble(), Endpoints: make(map[string]StateNow, len(r.Endpoints))}
	for i := range r.Endpoints {
		n.Endpoints[r.Endpoints[i].Name] = StateNow{r.Endpoints[i].State}
	}
	return n
}

// MarshalJSON implements json.Marshaler.
func (r *Report) MarshalJSON() ([]byte, error) {
	d := document{
		At: r.At.Truncate(time.Second), Trouble: r.Trouble(), From: r.From, Seconds: int(HalfHour.Seconds()),
		FirstDay: r.FirstDay.Format(time.DateOnly), Since: r.Since,
		Endpoints: make(map[string]endpointDoc, len(r.Endpoints)), Incidents: []incidentDoc{},
	}
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		one := endpointDoc{State: e.State, Uptime: e.Uptime}
		if e.Day != (Shares{}) {
			one.Day = &e.Day
		}
		for _, b := range e.HalfHours {
			one.Bars.add(b.Known(), 10*b.Works, 10*b.Stale, 10*b.Failing)
		}
		for _, s := range e.Days {
			one.Days.add(s != (Shares{}), s.Works, s.Stale, s.Failing)
		}
		d.Endpoints[e.Name] = one
	}
	for i := range r.Incidents {
		in := &r.Incidents[i]
		one := incidentDoc{ID: r.IncidentID(in), From: in.Begin, State: in.State(), Endpoints: in.Endpoints()}
		if in.Over() {
			one.Until = new(in.Until())
		}
		d.Incidents = append(d.Incidents, one)
	}
	return json.Marshal(d)
}
