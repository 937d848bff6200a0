package upstreams

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// defaultTimeout bounds an attempt that does not say otherwise.
const defaultTimeout = 3 * time.Second

// fetcher is what a kind of source compiles to. It asks, and brings a reply to
// be judged, or an Error.
type fetcher interface {
	fetch(ctx context.Context, in *input) (*reply, error)
}

// Source is a compiled source. It is safe for concurrent use.
type Source struct {
	Name string
	// Limit shortens how long its answers are fresh; 0: does not.
	Limit time.Duration
	// Missing is the environment variable with the key that it lacks; "": it
	// lacks none.
	Missing string
	// Variables are all those with its keys.
	Variables []string
	endpoint  string
	bare      string // the name as declared
	timeout   time.Duration
	retry     int
	next      bool // a negative leads to the next source
	remote    bool // it needs a network
	// optional is one whose failure does not outweigh what the others said.
	optional bool
	// lastResort is one that is asked where no copy may stand in.
	lastResort bool
	kind       fetcher
	host       *host.Host // nil: the target is the caller's, or there is none
	when       *jq.Program
	before     []step
	vars       []variable
	secrets    map[string]any
	hidden     []string // the forms of secrets, as a Redactor looks for them
	rules      []rule
	mapping    *jq.Program
	expires    *jq.Program
	picture    *picture
	env        *Environment
	seen       sourceMetrics
}

// serves tells whether the source is for this input.
func (s *Source) serves(ctx context.Context, call *Call) (bool, error) {
	if s.when == nil {
		return true, nil
	}
	return s.when.True(ctx, nil, &jq.Env{Params: call.Params, Now: call.Now, Secrets: s.secrets})
}

// patience is the most that its attempts take together.
func (s *Source) patience() time.Duration { return s.timeout * time.Duration(1+s.retry) }

// do is one attempt, retried when the host is unavailable and the budget
// allows.
func (s *Source) do(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	for try := 0; ; try++ {
		answer, err := s.attempt(ctx, call, watch)
		if err == nil || !passing(err) || try >= s.retry || !s.worthRetry(ctx) {
			return answer, err
		}
	}
}

// passing tells failures that may be gone in a moment. A host that says what it
// does not have, or whom it does not let in, will say so again.
func passing(err error) bool {
	status := StatusOf(err)
	return KindOf(err) == Unavailable && (status == 0 || status/100 == 2 || status >= 500 || status == http.StatusRequestTimeout)
}

// worthRetry asks the host's budget, and whether there is time for more than
// half an attempt.
func (s *Source) worthRetry(ctx context.Context) bool {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < s.timeout/2 {
		return false
	}
	return s.host != nil && s.host.Retries.Allow()
}

// attempt runs the stages in order and reports how it went.
func (s *Source) attempt(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	in := &input{call: call, hidden: s.hidden, room: allowance{budget: &s.env.Budget}, mark: s.env.LoopMark()}
	defer in.room.release()
	var stages []Stage
	if watch != nil {
		in.note = &stages
	}
	start := time.Now()
	answer, err := s.run(ctx, in)
	took, result := time.Since(start), "success"
	if err != nil {
		err = in.redactor().Err(s.sign(err))
		result = KindOf(err).String()
	}
	if err != nil && KindOf(err) == Limited {
		in.shut()
	}
	s.seen.observe(result, took)
	s.env.Journal.add(s.note(call, start, took, result, err))
	if watch != nil {
		hide := in.redactor()
		for i := range stages {
			stages[i].Detail = hide.Value(stages[i].Detail)
		}
		watch(Attempt{Source: s.Name, Result: result, Took: took, Err: err, Stages: stages, Redactor: hide})
	}
	return answer, err
}

// notAsked reports a source that was passed over.
func (s *Source) notAsked(err error, watch func(Attempt)) error {
	err = s.sign(err)
	result := KindOf(err).String()
	s.seen.observe(result, 0)
	if watch != nil {
		watch(Attempt{Source: s.Name, Result: result, Err: err})
	}
	return err
}

// sign puts the source's name into the error.
func (s *Source) sign(err error) error {
	if typed, ok := errors.AsType[*Error](err); ok {
		signed := *typed
		signed.Source = s.Name
		return &signed
	}
	return &Error{Kind: KindOf(err), Source: s.Name, Err: err}
}

func (s *Source) run(ctx context.Context, in *input) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	in.env = &jq.Env{Params: in.call.Params, Now: in.call.Now, Secrets: s.secrets, Vars: map[string]any{}}
	if err := s.prepare(ctx, in); err != nil {
		return Answer{}, err
	}
	in.rules = s.rules
	r, err := s.ask(ctx, in)
	if err != nil {
		return Answer{}, err
	}
	in.env.Secrets = nil // what is made of the answer has no use for them
	return s.understand(ctx, in, r)
}

// ask makes the source's own request, or does its work, within its bounds.
func (s *Source) ask(ctx context.Context, in *input) (*reply, error) {
	if b, ok := s.kind.(bounded); ok && s.host == nil {
		leave, err := b.bound(ctx, in)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	return guarded(ctx, s.host, s.rules, in, func(ctx context.Context) (*reply, error) { return s.kind.fetch(s.mark(ctx, in), in) })
}

// bounded kinds without a declared host take a place before they work.
type bounded interface {
	bound(ctx context.Context, in *input) (leave func(), err error)
}

// Remote tells whether it asks somebody else over HTTP.
func (s *Source) Remote() bool {
	_, ok := s.kind.(*getter)
	return ok || len(s.before) > 0
}

// AsksOthers tells whether it needs somebody else to answer.
func (s *Source) AsksOthers() bool { return s.remote }

// Bare is the source's name as declared, in replay too.
func (s *Source) Bare() string { return s.bare }

// Keyed tells whether its requests hold a secret, or are signed with one.
func (s *Source) Keyed() bool { return len(s.secrets) > 0 }

// Probe asks this source alone. watch, when not nil, sees every attempt with
// its stages.
func (s *Source) Probe(ctx context.Context, call *Call, watch func(Attempt)) (Answer, error) {
	t := turn{source: s}
	t.serves, t.failed = s.serves(ctx, call)
	return t.do(ctx, call, watch)
}

// Host is where it asks; nil when that is the caller's choice, or nobody.
func (s *Source) Host() *host.Host { return s.host }
