package recorded

import (
	"context"
	"encoding/json"
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
	Refused     Health = "refused"
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
	// Alternatives are the other sources of its chain that work and would have
	// answered the same call; see Relate.
	Alternatives []string `json:"alternatives,omitempty"`
	// Call that was made, and its answer where it works.
	Call   *upstreams.Call  `json:"-"`
	Case   *Case            `json:"-"`
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
		f.Case, f.Origin = s.cases[0], s.cases[0].Origin
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
	f.Answer, err = s.probe(ctx, f.Call, func(a upstreams.Attempt) { hide, f.Took = a.Redactor, a.Took })
	f.diagnose(err)
	if err == nil {
		f.compare(s.cases)
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

// diagnose sets the health by the error.
func (f *Finding) diagnose(err error) {
	if err == nil {
		f.Health = Works
		return
	}
	f.Notes = []string{err.Error()}
	switch kind := upstreams.KindOf(err); {
	case kind == upstreams.Negative, kind == upstreams.Skipped:
		f.Health = Changed // by the recorded exchange, what was asked for exists
	case upstreams.StatusOf(err) == http.StatusNotFound, upstreams.StatusOf(err) == http.StatusGone:
		f.Health = Changed // it has moved, or was shut down
	case kind == upstreams.Limited, kind == upstreams.Throttled, kind == upstreams.Forbidden, refuses(err):
		f.Health = Refused
	case kind == upstreams.Timeout, kind == upstreams.Unavailable, kind == upstreams.Rejected, kind == upstreams.Busy: // the latter two: not called, by a decision of ours
		f.Health = Unreachable
	default:
		f.Health = Changed
	}
}

// refuses reports whether the status is one with which services refuse callers.
func refuses(err error) bool {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusPreconditionFailed, http.StatusUnavailableForLegalReasons} {
		if upstreams.StatusOf(err) == status {
			return true
		}
	}
	return false
}

// compare compares the shape of the answer to the recorded ones.
func (f *Finding) compare(cases []*Case) {
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
	if f.Notes = known.Differences("data", plain(f.Answer.Data)); len(f.Notes) > 0 {
		f.Health = Changed
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
