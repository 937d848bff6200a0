package status

import (
	"encoding/json"
	"time"
)

// document is status.json.
type document struct {
	At      time.Time `json:"at"`
	Trouble int       `json:"trouble"` // endpoints that are stale or failing now
	// From is when the first of the bars begins, and Seconds how long each lasts.
	From      time.Time              `json:"from"`
	Seconds   int                    `json:"seconds"`
	Endpoints map[string]endpointDoc `json:"endpoints"`
}

// endpointDoc is an endpoint in status.json.
type endpointDoc struct {
	State State   `json:"state"`
	Day   *Shares `json:"day"` // null: nobody has asked
	Bars  barsDoc `json:"bars"`
}

// barsDoc has a value for each half hour, in percent, in steps of ten; null: unknown.
type barsDoc struct {
	Works   []*int `json:"works"`
	Stale   []*int `json:"stale"`
	Failing []*int `json:"failing"`
}

// MarshalJSON implements json.Marshaler.
func (r *Report) MarshalJSON() ([]byte, error) {
	d := document{
		At: r.At.Truncate(time.Second), Trouble: r.Trouble(), From: r.From, Seconds: int(HalfHour.Seconds()),
		Endpoints: make(map[string]endpointDoc, len(r.Endpoints)),
	}
	for i := range r.Endpoints {
		e := &r.Endpoints[i]
		one := endpointDoc{State: e.State}
		if e.Day != (Shares{}) {
			one.Day = &e.Day
		}
		for _, b := range e.Bars {
			one.Bars.add(b)
		}
		d.Endpoints[e.Name] = one
	}
	return json.Marshal(d)
}

func (d *barsDoc) add(b Bar) {
	percent := func(tenths int) *int {
		if !b.Known() {
			return nil
		}
		return new(10 * tenths)
	}
	d.Works = append(d.Works, percent(b.Works))
	d.Stale = append(d.Stale, percent(b.Stale))
	d.Failing = append(d.Failing, percent(b.Failing))
}
