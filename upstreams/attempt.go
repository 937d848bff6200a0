package upstreams

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// Probe asks this source alone. watch, when not nil, is called after each attempt,
// with its stages.
func (s *Source) Probe(ctx context.Context, call *Call, watch func(AttemptReport)) (Answer, error) {
	t := planned{source: s}
	t.serves, t.failed = s.serves(ctx, call)
	return t.ask(ctx, deadlineOf(ctx), &pass{call: call, watch: watch})
}

// longest is how long its attempts may take together.
func (s *Source) longest() time.Duration { return s.Timeout * time.Duration(1+s.Retry) }

// attemptWithRetries makes an attempt, and repeats it once with a new session where one was refused, and
// after a transient failure as far as the retry budget of the host allows. It ends at
// until; zero: when ctx does.
func (s *Source) attemptWithRetries(ctx context.Context, until time.Time, p *pass) (Answer, error) {
	renewed, retries := false, 0
	for {
		answer, refused, err := s.attempt(ctx, until, p, renewed)
		switch {
		case refused && ended(ctx, until) == nil:
			renewed = true
		case err != nil && transient(err) && retries < s.Retry && s.worthRetry(until):
			retries++
		default:
			return answer, err
		}
	}
}

// transient reports whether a repeated attempt may succeed. After 404 or 403 it
// would not.
func transient(err error) bool {
	status := StatusOf(err)
	return KindOf(err) == Unavailable && (status == 0 || status/100 == 2 || status >= 500 || status == http.StatusRequestTimeout)
}

// worthRetry reports whether the host's retry budget allows one more attempt, and
// at least half of its timeout is left.
func (s *Source) worthRetry(until time.Time) bool {
	if !until.IsZero() && time.Until(until) < s.Timeout/2 {
		return false
	}
	return s.Kind.Host != nil && s.Kind.Host.AllowRetry()
}

// attempt makes one attempt and reports it to metrics, journal and watch. refused says
// that a session may have ended: the next attempt makes a new one, or uses one that another
// has made meanwhile.
func (s *Source) attempt(ctx context.Context, until time.Time, p *pass, renewed bool) (answer Answer, refused bool, err error) {
	a := &Attempt{Call: p.call, Hidden: s.Hidden, secrets: s.env.Hidden, Memory: Reservation{budget: &s.env.Budget}, renewed: renewed, loopID: s.env.Outgoing().LoopID}
	defer a.Memory.Release()
	var stages []Stage
	if p.watch != nil {
		a.stages = &stages
	}
	start := time.Now()
	answer, err = s.execute(ctx, until, p, a)
	took, result := time.Since(start), "success"
	if err == nil {
		p.call.Kept.keep(&a.Memory)
	} else {
		err = a.Shown(s.attribute(err))
		result = KindOf(err).String()
	}
	if refused = a.RefusedSession(err); refused {
		a.forgetSessions()
	} else if err == nil || KindOf(err) == Negative {
		a.acceptSessions()
	}
	s.metrics.observe(result, took)
	s.env.Journal.add(s.record(p.call, start, took, result, err))
	if p.watch != nil {
		for i := range stages {
			stages[i].Detail = a.secrets.Redactor().Value(stages[i].Detail)
		}
		p.watch(AttemptReport{Source: s.Name, Result: result, Took: took, Err: err, Stages: stages, Changes: a.changes})
	}
	return answer, refused, err
}

// notAsked reports a source that was skipped.
func (s *Source) notAsked(err error, watch func(AttemptReport)) error {
	err = s.attribute(err)
	result := KindOf(err).String()
	s.metrics.observe(result, 0)
	if watch != nil {
		watch(AttemptReport{Source: s.Name, Result: result, Err: err})
	}
	return err
}

// attribute puts the source's name into the error.
func (s *Source) attribute(err error) error {
	if typed, ok := errors.AsType[*Error](err); ok {
		attributed := *typed
		attributed.Source = s.Name
		return &attributed
	}
	return &Error{Kind: KindOf(err), Source: s.Name, Err: err}
}

// execute makes the steps, then the source's own request, and data of the reply, within the
// source's timeout.
func (s *Source) execute(ctx context.Context, until time.Time, p *pass, a *Attempt) (Answer, error) {
	if s.throttled(ctx, p.hasCopy) {
		return Answer{}, &Error{Kind: Throttled, Err: errThrottled}
	}
	ctx, cancel := context.WithDeadline(ctx, earlier(until, time.Now().Add(s.Timeout)))
	defer cancel()
	a.Env = &jq.Env{Params: a.Call.Params, Now: a.Call.Now, Secrets: s.Secrets, Cause: p.cause}
	if err := s.prepare(ctx, a); err != nil {
		return Answer{}, err
	}
	a.Rules = s.Rules
	r, err := s.request(ctx, a)
	if a.stages != nil && r != nil {
		a.changes = s.own.Compare(r.Body)
	}
	if err != nil {
		return Answer{}, err
	}
	a.Env.Secrets = nil // programs that map the answer must not see them
	return s.mapReply(ctx, a, r)
}

// errThrottled says why a source was not called.
var errThrottled = errors.New("the declared rate is used up")

// throttled reports whether the source's rate is used up; where there is a copy to serve,
// up to the reserve. A call that the breaker will reject takes nothing of it, nor does a
// replayed one.
func (s *Source) throttled(ctx context.Context, hasCopy bool) bool {
	switch {
	case s.Quota == nil, s.env.Replay != nil, s.rejects():
		return false
	case hasCopy:
		return !s.Quota.TakeToRefresh(ctx, time.Now())
	}
	return !s.Quota.Take(ctx, time.Now())
}

// rejects reports whether the breaker of its host is open.
func (s *Source) rejects() bool { return s.Kind.Host != nil && s.Kind.Host.State() == "open" }

// request makes the source's own request, or does its work, once it is admitted.
func (s *Source) request(ctx context.Context, a *Attempt) (*Reply, error) {
	if s.Kind.Admit != nil {
		release, err := s.Kind.Admit(ctx, a)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	return Send(ctx, s.Kind.Host, s.Rules, a, func(ctx context.Context) (*Reply, error) {
		return s.Kind.Fetch(s.withPosition(ctx, a), a)
	})
}

// prepare makes the steps before the source's own request, then computes the
// source's variables.
func (s *Source) prepare(ctx context.Context, a *Attempt) error {
	a.Values, a.shared = a.Env.Params, true
	for name, value := range s.Secrets {
		a.SetPlaceholder(name, value)
	}
	for i := range s.Before {
		if err := s.Before[i].Make(s.withPosition(ctx, a), a); err != nil {
			return err
		}
	}
	return a.Compute(ctx, s.Vars)
}

// withPosition puts the position of the request into ctx, for a replay or a recorder.
func (s *Source) withPosition(ctx context.Context, a *Attempt) context.Context {
	if s.env.Replay == nil && s.env.Record == nil {
		return ctx
	}
	return WithPosition(ctx, Position{Endpoint: s.endpoint, Source: s.Declared, Call: a.Call})
}

// mapReply maps the reply to data, and fetches the picture that the data links.
func (s *Source) mapReply(ctx context.Context, a *Attempt, r *Reply) (Answer, error) {
	env := a.Env
	answer := Answer{Source: s.Name, Data: r.Body, Blob: r.Blob, Since: a.since, LastResort: s.LastResort}
	var err error
	if s.Map != nil {
		if answer.Data, err = s.Map.One(ctx, r.Body, env); err != nil {
			return Answer{}, Errorf(Malformed, "map: %w", err)
		}
		if answer.Data == nil {
			return Answer{}, Errorf(Malformed, "map: the answer holds nothing to map")
		}
	}
	if s.Expires != nil {
		if answer.Expires, err = s.expiry(ctx, answer.Data, env); err != nil {
			return Answer{}, err
		}
	}
	if answer.Data, err = s.checkData(ctx, answer.Data, r, env); err != nil {
		a.Stage(StageData, answer.Data)
		return Answer{}, err
	}
	a.Stage(StageData, answer.Data)
	if s.Picture != nil {
		answer.Blob, err = s.Picture.Fetch(AtStep(s.withPosition(ctx, a), "picture", 0), answer.Data, a, env)
	}
	return answer, err
}

// checkData checks what the map has made of a reply: data without what an answer must hold
// are a failure of the source, whatever its status was.
func (s *Source) checkData(ctx context.Context, data any, r *Reply, env *jq.Env) (any, error) {
	if s.Demands == nil {
		return data, nil
	}
	empty := false
	if s.Empty != nil {
		var err error
		if empty, err = s.Empty.True(ctx, r.Body, env); err != nil {
			return data, Errorf(Malformed, "empty: %w", err)
		}
	}
	checked, err := s.Demands.Check(data, empty)
	if err != nil {
		return data, &Error{Kind: Malformed, Err: words.Because(fmt.Errorf("the answer is incomplete: %w", err), "the answer is incomplete", "响应不完整")}
	}
	return checked, nil
}

func (s *Source) expiry(ctx context.Context, data any, env *jq.Env) (time.Time, error) {
	v, err := s.Expires.One(ctx, data, env)
	if err != nil {
		return time.Time{}, Errorf(Malformed, "expires: %w", err)
	}
	switch v := v.(type) {
	case nil:
		return time.Time{}, nil
	case int:
		return time.Unix(int64(v), 0), nil
	case float64:
		return time.Unix(int64(v), 0), nil
	}
	return time.Time{}, &Error{Kind: Malformed, Err: fmt.Errorf("expires: expected unix seconds, got %T", v)}
}

// Send makes one request through the breaker of its host, and judges the reply. The
// breaker learns the verdict, not the status alone, because upstreams
// say "not now" with status 200. A nil host has no breaker.
func Send(ctx context.Context, h *host.Host, rules []Rule, a *Attempt, send func(context.Context) (*Reply, error)) (*Reply, error) {
	done := func(host.Health) {}
	if h != nil {
		var err error
		if ctx, done, err = h.Enter(ctx, a.Call.Key); err != nil {
			return nil, err
		}
	}
	returned := false
	defer func() {
		if !returned { // send panicked: the slot must be released
			done(host.Healthy)
		}
	}()
	r, err := send(ctx)
	if err == nil && !r.Judged {
		err = Judge(ctx, rules, r, a.Env)
	}
	returned = true
	done(a.healthOf(err))
	return r, err
}
