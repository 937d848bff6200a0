package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/cache/policy"
)

// Bounds of the rule that the instances of a run are given (see chaosConfig), and
// what they add up to.
const (
	chaosFill     = 5 * time.Second
	chaosPauseMax = time.Second
	chaosNegative = 2 * time.Second
	chaosWindow   = 3 * time.Second
	chaosTTL      = time.Second // at least, where an operator's change says so
	// slack is for the clock of a busy machine.
	slack = 500 * time.Millisecond
	// fleetWait is how long an instance may wait for what another is at.
	fleetWait = 3 * time.Second
	// halfClosed is how long a caller is waited for whose side has ended.
	halfClosed = 700 * time.Millisecond
)

// observation is an answer as a client received it.
type observation struct {
	of       *errand
	by       string // how it was asked for
	instance string // which start of which instance
	from, to time.Time
	status   int
	header   http.Header
	body     []byte
}

// held is a copy that an instance is known to have had.
type held struct {
	created time.Time // at the earliest
	seen    time.Time // when an answer told of it
}

// oracle judges answers by the timeline.
type oracle struct {
	t    testing.TB
	seed uint64
	line *timeline
	// stale is how long after its TTL an endpoint's copy may be served, by endpoint.
	stale  map[string]time.Duration
	mu     sync.Mutex
	number map[string]int
	// copies are those that instances are known to have had, by instance and key.
	copies map[string][]held
	wrong  int
}

func newOracle(t testing.TB, seed uint64, line *timeline) *oracle {
	return &oracle{t: t, seed: seed, line: line, number: map[string]int{}, stale: map[string]time.Duration{}, copies: map[string][]held{}}
}

func (o *oracle) count(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.number[what]++
}

// maxWrong is how many mistakes are told in full.
const maxWrong = 10

// few tells whether it is worth going on.
func (o *oracle) few() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wrong < maxWrong
}

// fault tells of an answer that should not have been.
func (o *oracle) fault(s *observation, err error) {
	o.mu.Lock()
	o.wrong++
	n := o.wrong
	o.mu.Unlock()
	if n > maxWrong {
		return
	}
	// The mistake stands last, where a log that is cut still shows it.
	o.t.Errorf("what went on:\n%sbody %.300q\nheader %v\nseed %d: %s %s of %s from %s to %s: status %d: %v", o.line.last(s.to, 6*time.Second),
		s.body, s.header, o.seed, s.by, s.of.path(), s.instance, o.line.at(s.from), o.line.at(s.to), s.status, err)
}

// judge holds an answer to what its call wants, and a failure to what it may be
// the consequence of.
func (o *oracle) judge(s *observation) {
	status := o.status(s)
	if s.header.Get("X-Request-Id") == "" {
		o.fault(s, errors.New("no X-Request-Id"))
	}
	if took := s.to.Sub(s.from); took > 3*chaosFill+5*time.Second {
		o.fault(s, fmt.Errorf("it took %s", took))
	}
	if status == s.of.rule.status {
		o.count("as wanted")
		if err := o.right(s); err != nil {
			o.fault(s, err)
		}
		return
	}
	o.count(strconv.Itoa(status))
	if err := o.excused(s, status); err != nil {
		o.fault(s, err)
	}
}

// status is the status that the caller got: of a callback it is in the body.
func (o *oracle) status(s *observation) int {
	called, text, ok := strings.Cut(string(s.body), "(")
	if !ok || !strings.HasPrefix(called, "/**/") {
		return s.status
	}
	var doc struct{ Code int }
	if err := json.Unmarshal([]byte(strings.TrimSuffix(text, ");")), &doc); err != nil {
		o.fault(s, err)
	}
	return doc.Code
}

// right checks an answer that is none of a failure.
func (o *oracle) right(s *observation) error {
	if err := s.of.rule.check(context.Background(), s.status, s.header, s.body); err != nil {
		return o.lesser(s, err)
	}
	if s.of.drawn != nil && string(s.of.drawn) != string(s.body) {
		return fmt.Errorf("a picture of %d bytes, want one of %d", len(s.body), len(s.of.drawn))
	}
	if s.status >= 400 {
		return o.envelope(s, s.status)
	}
	return o.remember(s)
}

// lesser excuses an answer of a last resort that does not hold all that others do, such as
// a drawn icon, which has no address: each of the others must have had its own trouble.
func (o *oracle) lesser(s *observation, err error) error {
	if !lastResort(s) {
		return err
	}
	age, _ := strconv.Atoi(s.header.Get("Age"))
	from := s.from.Add(-o.reach(s) - time.Duration(age+1)*time.Second)
	for _, p := range s.of.picks {
		if p.alone = false; o.well(s.of, p, from, s.to) == "" {
			return o.remember(s)
		}
	}
	return err
}

func lastResort(s *observation) bool {
	return strings.Contains(s.header.Get("Cache-Status"), "sundry-last-resort")
}

// remember notes that the instance has a copy, and how old it is at most. What
// was purged on it before the call must be younger.
func (o *oracle) remember(s *observation) error {
	said := s.header.Get("Cache-Status")
	if !strings.Contains(said, "hit") && !strings.Contains(said, "stored") && !strings.Contains(said, "fwd=stale") {
		return nil
	}
	age, err := strconv.Atoi(s.header.Get("Age"))
	if err != nil {
		return fmt.Errorf("age: %w", err)
	}
	oldest := s.from.Add(-time.Duration(age+1) * time.Second)
	youngest := s.to.Add(-time.Duration(age) * time.Second)
	for _, p := range o.line.all("purged") {
		here := p.detail == s.instance && s.of.reached(&p) && p.to.Before(s.from)
		if here && youngest.Before(p.from) {
			return fmt.Errorf("purged at %s, and created before %s", o.line.at(p.from), o.line.at(youngest))
		}
	}
	if s.of.key == "" {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	id := s.instance + " " + s.of.key
	o.copies[id] = append(o.copies[id], held{oldest, s.to})
	return nil
}

// hasCopy tells whether the instance had a copy when it was asked, which neither its age
// nor a purge had made useless by the answer.
func (o *oracle) hasCopy(s *observation) bool {
	if s.of.key == "" {
		return false
	}
	var created time.Time
	o.mu.Lock()
	for _, c := range o.copies[s.instance+" "+s.of.key] {
		if c.seen.Before(s.from) && c.created.After(created) {
			created = c.created
		}
	}
	o.mu.Unlock()
	kept := s.to.Sub(created) < chaosTTL+o.stale[s.of.endpoint]
	return kept && !o.line.any("purge", created, s.to, s.of.reached)
}

// excused tells why a failure should not have been; nil: the policy has it so.
func (o *oracle) excused(s *observation, status int) error {
	from, to := s.from.Add(-o.reach(s)), s.to
	switch {
	case status == http.StatusFound && len(s.of.pictures.ways) > 0: // nobody brings the picture, so the caller is sent to it
		return o.unavailable(s, from, to)
	case status == http.StatusOK && lastResort(s) && s.of.rule.status == http.StatusNotFound: // nobody can tell that there is none
		return o.unavailable(s, from, to)
	}
	if err := o.envelope(s, status); err != nil {
		return err
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return o.refused(s)
	}
	switch {
	case s.of.refused():
		return fmt.Errorf("status %d, want %d", status, s.of.rule.status)
	case status == http.StatusNotFound && lastResort(s):
		return nil // a last resort may lack a form: the copy is there, and has no link
	case o.hasCopy(s):
		return fmt.Errorf("status %d in place of a copy", status)
	}
	switch status {
	case http.StatusNotFound:
		return o.denied(s, from, to)
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return o.unavailable(s, from, to)
	}
	return fmt.Errorf("status %d, want %d", status, s.of.rule.status)
}

// reach is how long before the call the fill may have begun that it waited for,
// or whose failure it heard of.
func (o *oracle) reach(s *observation) time.Duration {
	reach := slack
	slow := func(f *episode) bool { return o.about(f, s.of.endpoint) && strings.Contains(f.detail, "latency") }
	if o.line.any("fault", s.from.Add(-chaosFill), s.to, slow) {
		reach += chaosFill
	}
	if o.line.any("second", s.from.Add(-fleetWait), s.to, nil) || o.line.any("redis", s.from.Add(-fleetWait), s.to, nil) {
		reach += fleetWait
	}
	if s.header.Get("Retry-After") != "" {
		reach += chaosPauseMax
	}
	return reach
}

func (o *oracle) about(f *episode, endpoint string) bool {
	name, _, _ := strings.Cut(f.subject, "/")
	return name == endpoint
}

// refused judges a call that was shed or limited.
func (o *oracle) refused(s *observation) error {
	if s.header.Get("Retry-After") == "" {
		return errors.New("refused without Retry-After")
	}
	if o.line.any("limits", s.from.Add(-slack), s.to, nil) || s.of.works() && !o.hasCopy(s) {
		return nil
	}
	return errors.New("refused, and no limit says so")
}

// denied judges a negative answer to a call that has an answer: an upstream must have said
// what can be taken for one.
func (o *oracle) denied(s *observation, from, to time.Time) error {
	said := func(f *episode) bool {
		return o.about(f, s.of.endpoint) && (strings.Contains(f.detail, "status:4") || strings.Contains(f.detail, "body:"))
	}
	// It is believed for a while.
	if o.line.any("fault", from.Add(-chaosNegative), to, said) {
		return nil
	}
	return errors.New("a negative answer that no upstream gave")
}

// unavailable judges a failure: each source that can answer must have had its
// own trouble.
func (o *oracle) unavailable(s *observation, from, to time.Time) error {
	if s.of.rule.status == http.StatusNotFound {
		if o.line.any("fault", from, to, func(f *episode) bool { return o.about(f, s.of.endpoint) }) {
			return nil
		}
		return errors.New("nothing was wrong with the endpoint's sources")
	}
	whose := "no source"
	for _, p := range append(slices.Clone(s.of.picks), s.of.pictures) {
		if whose = o.well(s.of, p, from, to); whose == "" {
			return nil
		}
	}
	return fmt.Errorf("a failure, and nothing was wrong with %s since %s", whose, o.line.at(from))
}

// well names the first of the sources that nothing was wrong with; "": none.
func (o *oracle) well(of *errand, who sources, from, to time.Time) string {
	for _, w := range who.ways {
		faulty := o.line.any("fault", from, to, func(f *episode) bool { return f.subject == of.endpoint || f.subject == of.endpoint+"/"+w.source })
		shut := o.line.any("breaker", from, to, func(b *episode) bool { return among(w.hosts, b.subject) })
		if !faulty && !shut {
			return w.source
		}
	}
	if who.alone || len(who.ways) == 0 {
		return "what needs no upstream"
	}
	return ""
}

// reached tells whether a purge is about the answer.
func (e *errand) reached(p *episode) bool {
	return p.subject == policy.AllEndpoints || p.subject == e.endpoint || e.key != "" && p.subject == e.key
}

// chaosTypes is the closed list of them, with their statuses.
var chaosTypes = map[string]int{
	"missing_parameter": 400, "invalid_parameter": 400, "forbidden_target": 403, "not_found": 404, "method_not_allowed": 405,
	"rate_limited": 429, "internal": 500, "upstream_unavailable": 502, "overloaded": 503, "upstream_timeout": 504,
}

// envelope checks what an error says of itself.
func (o *oracle) envelope(s *observation, status int) error {
	errorType, _, _ := strings.Cut(s.header.Get("Sundry-Error"), ";")
	if chaosTypes[errorType] != status {
		return fmt.Errorf("error %q with status %d", errorType, status)
	}
	typ := s.header.Get("Content-Type")
	switch {
	case len(s.body) == 0 || strings.HasPrefix(typ, "text/"):
		return nil
	case typ == "image/png":
		_, err := png.Decode(bytes.NewReader(s.body))
		return err
	case typ == "image/svg+xml":
		return xml.Unmarshal(s.body, &struct{}{})
	}
	var doc struct {
		Code    int
		Message string
		Error   struct {
			Type      string
			RequestID string `json:"request_id"`
		}
	}
	switch err := json.Unmarshal(s.body, &doc); {
	case err != nil:
		return fmt.Errorf("error body: %w", err)
	case doc.Code != status || chaosTypes[doc.Error.Type] != status || doc.Message == "" || doc.Error.RequestID != s.header.Get("X-Request-Id"):
		return fmt.Errorf("error body of status %d, request %s", status, s.header.Get("X-Request-Id"))
	}
	return nil
}

// openings judges each breaker that opened: a source of its host must have been
// at fault.
func (o *oracle) openings(behind map[string][]string) {
	for _, b := range o.line.all("breaker") {
		from := b.from.Add(-chaosWindow - chaosFill - slack)
		if o.line.any("hold", from, b.from, func(h *episode) bool { return h.subject == b.subject }) {
			continue
		}
		if !o.line.any("fault", from, b.from, func(f *episode) bool { return o.behind(behind, f.subject, b.subject) }) {
			o.t.Errorf("what went on:\n%sseed %d: the breaker of %s was %s at %s for no reason", o.line.last(b.from, 10*time.Second), o.seed, b.subject, b.detail, o.line.at(b.from))
		}
	}
}

// behind tells whether a fault's sources ask a host.
func (o *oracle) behind(hosts map[string][]string, subject, host string) bool {
	if strings.Contains(subject, "/") {
		return among(hosts[subject], host)
	}
	for source, of := range hosts {
		if strings.HasPrefix(source, subject+"/") && among(of, host) {
			return true
		}
	}
	return false
}
