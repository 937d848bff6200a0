package httpsource

import (
	"cmp"
	"context"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// step is a compiled request made before a source's own.
type step struct {
	name    string
	when    *jq.Program
	vars    []jq.Variable
	http    *request // or else share is given
	share   *jq.Program
	rules   []upstreams.Rule
	keep    *jq.Program
	results upstreams.StepResults // nil: its outcome is for one call alone
	renew   bool
	env     *upstreams.Environment

	timeout  time.Duration // 0: the source's
	optional bool
	// bearer: it asks with a secret, so if it keeps one text that is a token.
	bearer bool
	// secret: what it keeps is computed from a secret.
	secret bool
}

// CompileStep checks the declaration. What the step keeps is in scope for all that
// follows it.
func CompileStep(spec *StepSpec, c *upstreams.Compiler) *step {
	st := &step{
		name: spec.Name.Value, when: c.Program(spec.When), keep: c.Program(spec.Keep),
		share: c.Program(spec.Share), rules: c.Rules(spec.Judge), vars: jq.CompileVars(spec.Vars, c.Scope, c.Problems),
		renew: spec.Renew, env: c.Env, timeout: time.Duration(spec.Timeout), optional: spec.Optional,
	}
	if spec.For > 0 && c.Env.StepCache != nil {
		st.results = c.Env.StepCache.Open(c.Endpoint, upstreams.StepCacheRule{
			Step: st.name, Version: spec.version(c.Scope.Defs), Lasts: time.Duration(spec.For), Timeout: cmp.Or(st.timeout, c.Timeout), Shared: spec.Shared,
		})
	}
	spec.check(c)
	if spec.HTTP != nil {
		st.http = compileHTTP(spec.HTTP, spec.Name.Line, c)
		st.bearer = st.http.showsSecret(c.Scope)
	}
	st.secret = c.Scope.Reads(spec.Keep)
	c.Scope.Add(st.name, st.secret)
	return st
}

// check tells mistakes of a step.
func (s *StepSpec) check(c *upstreams.Compiler) {
	add := func(format string) { c.Problems.Add(s.Name.Line, format, s.Name.Value) }
	if !jq.IsName(s.Name.Value) {
		add("step %q: want a name of small letters, digits and _")
	}
	if s.Renew && s.For == 0 {
		add("step %s: renew: without for: there is nothing to forget")
	}
	if s.Shared && s.For == 0 {
		add("step %s: shared: without for: nothing is kept")
	}
	if (s.HTTP == nil) == (s.Share == nil) {
		add("step %s: want http or share, and one of them only")
	}
	if s.HTTP != nil && (s.HTTP.Decode == "image" || s.HTTP.Parts.given()) {
		add("step %s: want neither decode: image nor parts")
	}
}

// Do implements BeforeStep: it makes the request, unless its outcome is still kept from another call,
// and keeps what it is for.
func (st *step) Do(ctx context.Context, in *upstreams.Input) error {
	if st.when != nil {
		serves, err := st.when.True(ctx, nil, in.Env)
		if err != nil || !serves {
			in.Set(st.name, nil)
			return err
		}
	}
	if err := in.Compute(ctx, st.vars); err != nil {
		return err
	}
	value, err := st.run(ctx, in)
	switch {
	case err == nil:
		in.Stage("kept "+st.name, value)
	case st.optional && ctx.Err() == nil && upstreams.KindOf(err) != upstreams.Internal:
		in.Stage("without "+st.name, err.Error())
		value = nil
	default:
		return err
	}
	st.derive(in, value)
	in.Set(st.name, value)
	return nil
}

// derive notes what is secret in the outcome.
func (st *step) derive(in *upstreams.Input, value any) {
	text, alone := value.(string)
	switch {
	case len(in.Hidden) == 0:
	case alone && (st.bearer || st.secret):
		in.Derive(text, redact.DerivedMin)
	case st.secret:
		in.Derive(value, redact.SignatureMin)
	}
}

// run gives the outcome, within the step's own time.
func (st *step) run(ctx context.Context, in *upstreams.Input) (any, error) {
	if st.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, st.timeout)
		defer cancel()
	}
	ctx = upstreams.AtStep(ctx, st.name, 0)
	if st.share != nil {
		return st.readShare(ctx, in)
	}
	return st.fetch(ctx, in)
}

// fetch asks the step's host, unless what an equal request brought is kept.
func (st *step) fetch(ctx context.Context, in *upstreams.Input) (any, error) {
	req, body, err := st.http.render(ctx, in)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "%w", err)
	}
	id := requestLine(req) + " " + string(body)
	if st.renew && st.results != nil {
		in.Sessions = append(in.Sessions, upstreams.Session{Results: st.results, ID: id})
	}
	return st.cached(ctx, in, id, func(ctx context.Context, in *upstreams.Input) (any, error) {
		r, err := upstreams.ThroughBreaker(ctx, st.http.host, st.rules, in, func(ctx context.Context) (*upstreams.Reply, error) {
			return st.http.roundTrip(req.WithContext(ctx), in)
		})
		if err != nil {
			return nil, err
		}
		return st.result(ctx, r, in.Env)
	})
}

// cached gives what is kept under the id, else asks and keeps.
func (st *step) cached(ctx context.Context, in *upstreams.Input, id string, ask func(context.Context, *upstreams.Input) (any, error)) (any, error) {
	if st.results == nil {
		return ask(ctx, in)
	}
	sub := in.Fork()
	asked := false
	value, born, err := st.results.Fetch(ctx, id, func(ctx context.Context) (any, error) {
		asked = true
		defer sub.Memory.Release()
		v, err := ask(ctx, sub)
		return v, sub.Redactor().Err(err) // others hear of it too
	})
	if err != nil {
		return nil, err
	}
	if in.NoteCreated(born); asked {
		in.Join(sub)
	}
	return value, nil
}

// result is what the step makes of a reply.
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
