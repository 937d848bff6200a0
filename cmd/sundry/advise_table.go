package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sundry/cache/whatif"
	"sundry/upstreams/plainjson"
)

// advice is what came of the rules of all endpoints.
type advice struct {
	From      time.Time        `json:"from"`
	To        time.Time        `json:"to"`
	Lines     logCounts        `json:"lines"`
	Endpoints []endpointAdvice `json:"endpoints"` // busiest first
	// Notes are about all endpoints.
	Notes []string `json:"notes,omitempty"`
}

// endpointAdvice is what came of the rules of one endpoint.
type endpointAdvice struct {
	Endpoint string        `json:"endpoint"`
	Requests uint64        `json:"requests"`
	Keys     int           `json:"keys"`
	Span     seconds       `json:"seconds"`
	Changes  string        `json:"changes"` // in words
	Latency  seconds       `json:"fill_seconds"`
	Rules    []ruleOutcome `json:"rules"` // by rising TTL
	Notes    []string      `json:"notes,omitempty"`
}

// ruleOutcome is what came of one rule.
type ruleOutcome struct {
	Present      bool    `json:"present"`
	TTL          seconds `json:"ttl_seconds"`
	Grace        seconds `json:"grace_seconds"`
	StaleIfError seconds `json:"stale_if_error_seconds"`
	Hit          float64 `json:"hit_ratio"`
	Wait         float64 `json:"wait_ratio"`
	Calls        uint64  `json:"calls"`
	CallsPerHour float64 `json:"calls_per_hour"`
	// Older is null where nobody knows when content changes.
	Older   *float64 `json:"older_ratio"`
	MeanAge seconds  `json:"mean_age_seconds"`
	P99Age  seconds  `json:"p99_age_seconds"`
}

// seconds is a time that is a number of seconds in JSON, to the millisecond.
type seconds time.Duration

// MarshalJSON implements json.Marshaler.
func (s seconds) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(s).Round(time.Millisecond).Seconds())
}

// advice says what came of it.
func (s *simulation) advice() *advice {
	out := &advice{From: s.first.Add(s.warmUp), To: s.latest, Lines: s.counts}
	for _, to := range s.used() {
		out.Endpoints = append(out.Endpoints, to.advice())
	}
	if why := s.keyless(); why != "" {
		out.Notes = append(out.Notes, why)
	}
	if s.warmUp == 0 {
		out.Notes = append(out.Notes, "the cache is empty at the start; --warm-up TIME leaves the first part of the log out of the figures")
	}
	return out
}

func (to *simulated) advice() endpointAdvice {
	changes := to.config.Changes
	if !changes.Known() && to.endpoint.Policy.Until != nil {
		changes = whatif.Timetable(to.endpoint.Policy.Until)
	}
	span := to.sim.Span()
	out := endpointAdvice{
		Endpoint: to.endpoint.Name, Requests: to.sim.Requests(), Keys: to.sim.Keys(), Span: seconds(span),
		Changes: changes.String(), Latency: seconds(to.config.Latency),
	}
	outcomes := to.sim.Outcomes()
	for i := range outcomes {
		o := ruleOutcomeOf(&outcomes[i])
		o.Present = i == to.present
		out.Rules = append(out.Rules, o)
	}
	out.Notes = to.notes(span)
	return out
}

func ruleOutcomeOf(o *whatif.Outcome) ruleOutcome {
	r := ruleOutcome{
		TTL: seconds(o.Rule.TTL), Grace: seconds(o.Rule.Grace), StaleIfError: seconds(o.Rule.StaleIfError),
		Hit: o.HitRatio(), Calls: o.Calls, CallsPerHour: o.CallsPerHour, MeanAge: seconds(o.MeanAge), P99Age: seconds(o.P99Age),
	}
	r.Wait = 1 - r.Hit
	if o.OlderKnown {
		r.Older = &o.Older
	}
	return r
}

// notes are about what the figures of the endpoint do not hold.
func (to *simulated) notes(span time.Duration) []string {
	var notes []string
	longest := to.config.Rules[len(to.config.Rules)-1].TTL
	switch {
	case !to.endpoint.Policy.Stores():
		notes = append(notes, "its answers are not cached (off)")
	case longest > span:
		notes = append(notes, "the log covers "+roughly(span)+": what longer TTLs would save after that is not in the figures")
	}
	if to.endpoint.LimitsItself() {
		notes = append(notes, "its answers may shorten their own freshness, which a log does not hold: with the same TTL there are more calls than here")
	}
	if to.hitSample > 0 {
		notes = append(notes, fmt.Sprintf("hits are a sample in this log, each of which counts for %d (log_hits in the configuration of this command); log_hits: 1 logs them all", to.hitSample))
	}
	return notes
}

// print writes a table for each endpoint, and what is to be said about the log.
func (a *advice) print(w io.Writer) error {
	for i := range a.Endpoints {
		if err := a.Endpoints[i].print(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, a.Lines.String())
	for _, note := range a.Notes {
		_, err2 := fmt.Fprintln(w, "note:", note)
		err = errors.Join(err, err2)
	}
	return err
}

func (e *endpointAdvice) print(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %d requests for %d keys in %s; fills take %s; content changes: %s\n\n",
		e.Endpoint, e.Requests, e.Keys, roughly(time.Duration(e.Span)), roughly(time.Duration(e.Latency)), e.Changes)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err2 := fmt.Fprintln(table, "TTL\tGRACE\tSTALE-IF-ERROR\tHIT\tWAIT\tCALLS/H\tOLDER\tMEAN AGE\tP99 AGE\t")
	err = errors.Join(err, err2)
	for i := range e.Rules {
		_, err2 := fmt.Fprintln(table, e.Rules[i].row())
		err = errors.Join(err, err2)
	}
	if err := errors.Join(err, table.Flush()); err != nil {
		return err
	}
	for _, note := range e.Notes {
		_, err2 := fmt.Fprintln(w, "note:", note)
		err = errors.Join(err, err2)
	}
	_, err2 = fmt.Fprintln(w)
	return errors.Join(err, err2)
}

func (r *ruleOutcome) row() string {
	older, present := "-", ""
	if r.Older != nil {
		older = percent(*r.Older)
	}
	if r.Present {
		present = " < present"
	}
	return strings.Join([]string{
		whatif.Duration(time.Duration(r.TTL)), whatif.Duration(time.Duration(r.Grace)), whatif.Duration(time.Duration(r.StaleIfError)),
		percent(r.Hit), percent(r.Wait), figure(r.CallsPerHour), older, roughly(time.Duration(r.MeanAge)), roughly(time.Duration(r.P99Age)),
	}, "\t") + "\t" + present
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 2, 64) + "%" }

// figure is a number to three digits at least.
func figure(v float64) string {
	digits := 0
	if v > 0 && v < 100 {
		digits = min(4, 2-int(math.Floor(math.Log10(v))))
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// roughly is a length of time to some three digits.
func roughly(d time.Duration) string {
	for _, unit := range []time.Duration{time.Hour, time.Minute, time.Second, 100 * time.Millisecond} {
		if d >= 100*unit {
			return whatif.Duration(d.Round(unit))
		}
	}
	return whatif.Duration(d.Round(time.Millisecond))
}

func (a *advice) printJSON(w *process) error {
	b, err := plainjson.MarshalIndent(a)
	if err != nil {
		return err
	}
	_, err = w.stdout.Write(b)
	return err
}
