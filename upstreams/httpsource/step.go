package httpsource

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// step is a compiled StepSpec.
type step struct {
	name      string
	when      *jq.Program
	vars      []jq.Variable
	http      *fetcher    // nil: shareLink is set
	shareLink *jq.Program // nil: http is set
	rules     []upstreams.Rule
	keep      *jq.Program
	Shape     *upstreams.ReplyShape // of the replies to its request; nil: nothing is known of them
	results   upstreams.StepResults // cached; nil: the result is for one call only
	logins    *upstreams.Sessions   // the same, of a step that logs in; nil: it does not
	env       *upstreams.Environment

	endpoint, source string // that it belongs to

	guarded, proxied *http.Client // of share

	timeout  time.Duration // 0: the source's
	optional bool
}

// CompileStep compiles the declaration of a step, and adds the step's name to the
// compiler's scope. Mistakes go to the compiler's problems; what comes back must not
// be used then.
//
// of are the programs of the source itself, which may read what the step keeps.
func CompileStep(spec *StepSpec, of []*declare.Expr, c *upstreams.Compiler) *step {
	st := &step{
		name: spec.Name.Value, when: c.Program(spec.When), vars: jq.CompileVars(spec.Vars, c.Scope, c.Problems),
		keep: c.Program(spec.Keep), shareLink: c.Program(spec.Share), rules: c.Rules(spec.Judge),
		env: c.Env, endpoint: c.Endpoint, source: c.Source, timeout: time.Duration(spec.Timeout), optional: spec.Optional,
	}
	if spec.For > 0 && c.Env.StepCache != nil {
		st.results = c.Env.StepCache.Open(c.Endpoint, upstreams.StepCacheRule{
			Step: st.name, Version: spec.version(c.Scope.Defs), Lasts: time.Duration(spec.For), Timeout: cmp.Or(st.timeout, c.Timeout), Session: spec.Renew, Shared: spec.Shared,
		})
		if spec.Renew {
			st.logins = &upstreams.Sessions{Results: st.results}
		}
	}
	spec.check(c)
	if st.shareLink != nil {
		st.compileShare()
	}
	if spec.HTTP != nil {
		st.http = compileFetcher(spec.HTTP, spec.Name.Line, c)
		st.Shape = c.ShapeOfReplies(st.name, c.Scope.Defs.Reads(append(of, spec.programs()...)...), st.http.decodeKnown)
	}
	c.Scope.Add(st.name, spec.Name.Line)
	if len(spec.Judge) == 0 { // what is judged may be asked for that alone
		c.Scope.Uses.Declare("step", st.name, spec.Name.Line)
	}
	return st
}

// programs are those that read the reply.
func (s *StepSpec) programs() []*declare.Expr {
	programs := []*declare.Expr{s.Keep}
	for _, rule := range s.Judge {
		programs = append(programs, rule.If)
	}
	return programs
}

// check reports mistakes of a step.
func (s *StepSpec) check(c *upstreams.Compiler) {
	add := func(format string) { c.Problems.Add(s.Name.Line, format, s.Name.Value) }
	if !jq.IsName(s.Name.Value) {
		add("step %q: expected a name of lower-case letters, digits and underscores, for example guest_token")
	}
	if s.Renew && s.For == 0 {
		add("step %s: renew: expected with for, for example for: 1h; without it nothing is cached")
	}
	if s.Shared && s.For == 0 {
		add("step %s: shared: expected with for, for example for: 1h; without it nothing is cached")
	}
	if (s.HTTP == nil) == (s.Share == nil) {
		add("step %s: expected either http or share, for example share: $params.url")
	}
	if s.HTTP != nil && s.HTTP.Decode == "image" {
		add("step %s: decode: image is for sources only; expected json, jsonp, html, xml, feed, script or text")
	}
	if s.HTTP != nil && s.HTTP.Parts.declared() {
		add("step %s: parts is for sources only; expected one step for each request")
	}
}

// Host implements upstreams.Step.
func (st *step) Host() *host.Host {
	if st.http == nil {
		return nil
	}
	return st.http.host
}

// Make implements upstreams.Step: it makes the request, unless its result is
// cached, and sets the step's variable to the result.
func (st *step) Make(ctx context.Context, a *upstreams.Attempt) error {
	if st.when != nil {
		applies, err := st.when.True(ctx, nil, a.Env)
		if err != nil || !applies {
			a.Set(st.name, nil)
			return err
		}
	}
	if err := a.Compute(ctx, st.vars); err != nil {
		return err
	}
	value, err := st.value(ctx, a)
	switch {
	case err == nil && a.Hidden: // the result may be a token
	case err == nil:
		a.Stage("result of "+st.name, value)
	case st.optional && ctx.Err() == nil && upstreams.KindOf(err) != upstreams.Internal && !a.RefusedSession(err):
		a.Stage("failure of "+st.name, a.Shown(err).Error())
		a.Tolerate(err)
		value = nil
	default:
		return err
	}
	a.Set(st.name, value)
	return nil
}

// value returns the step's result, within the step's own timeout.
func (st *step) value(ctx context.Context, a *upstreams.Attempt) (any, error) {
	if st.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, st.timeout)
		defer cancel()
	}
	ctx = upstreams.AtStep(ctx, st.name, 0)
	if st.shareLink != nil {
		return st.readShare(ctx, a)
	}
	return st.request(ctx, a)
}

// request makes the step's request, unless the result of an equal one is cached.
func (st *step) request(ctx context.Context, a *upstreams.Attempt) (any, error) {
	req, body, err := st.http.render(ctx, a)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "%w", err)
	}
	return st.cached(ctx, a, requestLine(req)+" "+string(body), func(ctx context.Context, a *upstreams.Attempt) (any, error) {
		r, err := upstreams.Send(ctx, st.http.host, st.rules, a, func(ctx context.Context) (*upstreams.Reply, error) {
			return st.http.roundTrip(req.WithContext(ctx), a)
		})
		if err != nil {
			return nil, err
		}
		return st.result(ctx, r, a.Env)
	})
}

// cached returns the result that is cached under the ID, else fetches it. Fetching
// may outlive this attempt, because other calls may wait for it, so it works on a
// fork of it.
func (st *step) cached(ctx context.Context, a *upstreams.Attempt, id string, fetch func(context.Context, *upstreams.Attempt) (any, error)) (any, error) {
	if st.results == nil {
		return fetch(ctx, a)
	}
	fork := a.Fork()
	var fetched atomic.Bool // to its end: it may still go on, where an old result is returned in its place
	value, created, err := st.results.Get(ctx, id, func(ctx context.Context) (any, error) {
		defer fetched.Store(true)
		defer fork.Memory.Release()
		v, err := fetch(ctx, fork)
		return v, fork.Shown(err) // waiting calls, which may be those of another source, get the error too
	})
	if err != nil {
		return nil, err
	}
	if fetched.Load() {
		a.Join(fork)
	}
	if st.logins == nil {
		a.NoteCreated(created)
	} else {
		a.UseSession(st.logins, id, created, fetched.Load())
	}
	return value, nil
}

// result makes the step's result of a reply.
func (st *step) result(ctx context.Context, r *upstreams.Reply, env *jq.Env) (any, error) {
	if st.keep == nil {
		return r.Body, nil
	}
	v, err := st.keep.One(ctx, r.Body, env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "step %s: keep: %w", st.name, err)
	}
	return v, nil
}
