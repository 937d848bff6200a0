package recorded

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/redact"
	"sundry/upstreams/shape"
)

// Health is the result of the examination of a source.
type Health string

// The states of health, from the best on.
const (
	Works       Health = "works"
	Changed     Health = "changed shape"
	Indifferent Health = "answers the same to everything"
	// Declined: the service says that it does not answer this.
	Declined Health = "says no"
	// Refused: it does not let this caller in, or asks for a key, money, a browser or less.
	Refused Health = "refuses"
	// Fails: it says that it is at fault (5xx).
	Fails Health = "fails"
	// Unreachable: there was no connection, or no whole reply in time.
	Unreachable Health = "unreachable"
	KeyMissing  Health = "key missing"
)

// Finding is an examined source.
type Finding struct {
	Endpoint string        `json:"endpoint"`
	Chain    string        `json:"chain"`
	Source   string        `json:"source"`
	Health   Health        `json:"health"`
	Took     time.Duration `json:"-"`
	// Notes are the fields that changed, or what else there is to say.
	Notes []string `json:"notes,omitempty"`
	// Origin of what its answer was compared with; "" for nothing.
	Origin string `json:"origin,omitempty"`
	// Retyped: its answer has values of types that were never recorded.
	Retyped bool `json:"-"`
	// Alternatives are the other sources of its chain that work and would have
	// answered the same call; see Relate.
	Alternatives []string `json:"alternatives,omitempty"`
	// Call that was made, and its answer where it works.
	Call   *upstreams.Call  `json:"-"`
	Case   *Case            `json:"-"`
	others []*Case          // recorded beside Case
	query  string           // that the call was made of, or
	link   string           // the link
	Answer upstreams.Answer `json:"-"`
	// standsIn: it is local and answers what remote sources are called for; see Relate.
	standsIn bool
}

// Subject is a source to be examined, with its exchanges.
type Subject struct {
	endpoint *catalog.Endpoint
	chain    *catalog.Chain
	Source   *upstreams.Source
	cases    []*Case // of successes; the first is called
	asked    string  // the query to call with instead; "" for none
}

// SubjectsOf lists every source of an endpoint, including those that lack a key.
func SubjectsOf(e *catalog.Endpoint, cases []*Case) []Subject {
	var out []Subject
	for _, c := range e.Chains {
		for _, s := range c.Declared() {
			out = append(out, Subject{endpoint: e, chain: c, Source: s, cases: successes(cases, e.Name, s.Declared, c.Name)})
		}
	}
	return out
}

// successes are the good cases of a source in a chain, the ordinary one first.
func successes(cases []*Case, endpoint, source, chain string) []*Case {
	var good []*Case
	for _, c := range CasesOf(cases, endpoint, source) {
		of := c.Chain
		if of == "" {
			of = catalog.MainChain
		}
		switch {
		case c.Want != "success" || of != chain && c.Chain != "":
		case c.Name == "good":
			good = slices.Insert(good, 0, c)
		default:
			good = append(good, c)
		}
	}
	return good
}

// Examine calls the source once, with what it was recorded with, and compares
// the shape of its answer. In replay the call is made at the recorded time.
func (s *Subject) Examine(ctx context.Context, now time.Time) Finding {
	f := Finding{Endpoint: s.endpoint.Name, Chain: s.chain.Name, Source: s.Source.Declared}
	if s.Source.Missing != "" {
		f.Health, f.Notes = KeyMissing, []string{"set " + s.Source.Missing}
		return f
	}
	if len(s.cases) > 0 {
		f.Case, f.Origin, f.others = s.cases[0], s.cases[0].Origin, s.cases[1:]
	}
	var err error
	if f.choose(s); f.Case != nil && s.endpoint.Replayed() {
		now = f.Case.Now
	}
	if f.Call, err = s.callOf(f.query, f.link, now); err != nil {
		f.Health, f.Notes = Changed, []string{"the recorded call is refused: " + err.Error()}
		return f
	}
	var hide *redact.Redactor
	var changes []shape.Change
	f.Answer, err = s.probe(ctx, f.Call, func(a upstreams.Attempt) { hide, f.Took, changes = a.Redactor, a.Took, a.Changes })
	f.diagnose(err, changes)
	if err == nil {
		f.compare(s.cases, s.endpoint.Fields)
		f.noteSlow(s.Source.Timeout)
		s.askForCanary(ctx, &f)
	}
	for i := range f.Notes {
		f.Notes[i] = hide.Text(f.Notes[i]) // names of fields come from the upstream
	}
	return f
}

const (
	// patience is how long the doctor waits for what this service allows: the declared
	// rate of a source, and slots for local work.
	patience = 10 * time.Second
	// slotPause is how long it waits until it asks for a slot again.
	slotPause = 50 * time.Millisecond
)

// probe calls the source, once its rate and the slots allow that.
func (s *Subject) probe(ctx context.Context, call *upstreams.Call, watch func(upstreams.Attempt)) (upstreams.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience+s.Source.Timeout)
	defer cancel()
	for {
		answer, err := s.Source.Probe(ctx, call, watch)
		wait, ours := s.wait(err)
		if !ours || wait > patience {
			return answer, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return answer, err
		}
	}
}

// wait is how long to wait after an error that is due to what this service allows, and
// says nothing about the source: its rate, or the slots for local work.
func (s *Subject) wait(err error) (d time.Duration, ours bool) {
	switch upstreams.KindOf(err) {
	case upstreams.Throttled:
		return s.Source.Quota.Wait(time.Now()), true
	case upstreams.Busy:
		return slotPause, true
	}
	return 0, false
}

// choose sets what to call with: what was asked for, else what was recorded, else the
// first example.
func (f *Finding) choose(s *Subject) {
	switch {
	case s.asked != "":
		f.query = s.asked
	case f.Case != nil:
		f.query, f.link = f.Case.Raw, f.Case.Link
	default:
		f.query = Calls(s.endpoint)[0].Query
	}
}

// callOf makes the call of a query or link.
func (s *Subject) callOf(query, link string, now time.Time) (*upstreams.Call, error) {
	params, err := canonical(s.endpoint, query, catalog.Caller{Addr: caller}, now)
	if err != nil {
		return nil, err
	}
	if link != "" {
		params = map[string]any{"link": link}
	}
	return &upstreams.Call{Endpoint: s.endpoint.Name, Params: params, Now: now}, nil
}

// diagnose sets the health by the error, and by what has changed in the reply.
func (f *Finding) diagnose(err error, changes []shape.Change) {
	if f.Health = Works; err == nil {
		return
	}
	f.Health, f.Notes = healthOf(err, len(changes) > 0), []string{err.Error()}
	if f.Health == Changed {
		for _, c := range changes {
			f.Notes = append(f.Notes, fmt.Sprintf("reply: %s is %s", cmp.Or(c.Field, "all of it"), c.Kind))
		}
	}
}

// healthOf is the health of a source that failed. changed: its reply is not as it was known.
func healthOf(err error, changed bool) Health {
	kind, status := upstreams.KindOf(err), upstreams.StatusOf(err)
	why, judged := errors.AsType[*upstreams.Refusal](err)
	switch {
	case judged && why.ForBrowsers(), kind == upstreams.Limited, kind == upstreams.Throttled, kind == upstreams.Forbidden, refuses(status):
		return Refused
	case status >= http.StatusInternalServerError:
		return Fails
	case judged && (why.Said != "" && !why.Page || why.Rule > 0 && !changed && kind != upstreams.Malformed), gone(status):
		return Declined
	case judged, kind == upstreams.Malformed, kind == upstreams.Internal, kind == upstreams.Negative, kind == upstreams.Skipped, kind == upstreams.Invalid:
		return Changed // by the recorded exchange, what was asked for exists
	}
	return Unreachable
}

// refuses reports whether the status is one with which services refuse callers.
func refuses(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusPreconditionFailed,
		http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons:
		return true
	}
	return false
}

// gone reports whether the status says that there is nothing at the address.
func gone(status int) bool { return status == http.StatusNotFound || status == http.StatusGone }

// compare compares the answer to the recorded ones. What must have a value has one, so a
// field that is declared may be null, and is merely noted.
func (f *Finding) compare(cases []*Case, declared []*catalog.Field) {
	if f.Case == nil {
		return
	}
	documents := make([][]byte, len(cases))
	for i, c := range cases {
		documents[i] = c.WantJSON
	}
	known, err := shape.OfJSON(documents...)
	if err != nil {
		f.Health, f.Notes = Changed, []string{err.Error()}
		return
	}
	for _, d := range known.Differences("data", plain(f.Answer.Data)) {
		f.Notes = append(f.Notes, d.String())
		if !d.Null || len(declared) == 0 {
			f.Health = Changed
		}
		f.Retyped = f.Retyped || !d.Null && !d.Missing
	}
	f.noteLists(documents)
}

// noteLists notes the lists that are shorter than any recorded one.
func (f *Finding) noteLists(documents [][]byte) {
	least := map[string]int{}
	for _, b := range documents {
		var v any
		if json.Unmarshal(b, &v) == nil {
			for at, n := range listsOf("data", v) {
				if have, ok := least[at]; !ok || n < have {
					least[at] = n
				}
			}
		}
	}
	now := listsOf("data", plain(f.Answer.Data))
	for _, at := range slices.Sorted(maps.Keys(now)) {
		if n, ok := least[at]; ok && now[at] < n {
			f.Notes = append(f.Notes, fmt.Sprintf("%s: a list of %d, the shortest recorded is of %d", at, now[at], n))
		}
	}
}

// listsOf are the lengths of the lists of a document that are not within others.
func listsOf(at string, v any) map[string]int {
	found := map[string]int{}
	switch v := v.(type) {
	case []any:
		found[at] = len(v)
	case map[string]any:
		for name, value := range v {
			maps.Copy(found, listsOf(at+"."+name, value))
		}
	}
	return found
}

// noteSlow notes an answer that took more than half of the time that it has.
func (f *Finding) noteSlow(timeout time.Duration) {
	if f.Took > timeout/2 {
		f.Notes = append(f.Notes, fmt.Sprintf("slow: %s of at most %s", f.Took.Round(time.Millisecond), timeout))
	}
}

// plain is data as JSON decodes it; programs also emit numbers of other types.
func plain(v any) any {
	b, err := json.Marshal(v)
	var out any
	if err != nil || json.Unmarshal(b, &out) != nil {
		return v
	}
	return out
}

// SetQuery sets the parameters that the source is called with, in place of the
// recorded ones.
func (s *Subject) SetQuery(values url.Values) { s.asked = values.Encode() }
