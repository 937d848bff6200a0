package upstreams

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// step is a compiled request made before a source's own.
type step struct {
	name  string
	when  *jq.Program
	vars  []variable
	get   *getter // or else share is given
	share *jq.Program
	host  *host.Host // of get
	rules []rule
	keep  *jq.Program
	shelf Shelf // nil: its outcome is for one call alone
	renew bool
	env   *Environment

	timeout  time.Duration // 0: the source's
	optional bool
	// bearer: it asks with a secret, so if it keeps one text that is a token.
	bearer bool
	// secret: what it keeps is computed from a secret.
	secret bool
}

// variable is a placeholder computed by jq.
type variable struct {
	name  string
	query *jq.Program
	// secret: it is computed from a secret.
	secret bool
}

// compileStep checks the declaration. declared are the placeholders known so
// far; the step's own are added, its result for all that follow.
func (s *Source) compileStep(spec *StepSpec, declared map[string]bool, env *Environment, problems *declare.Problems) step {
	line := spec.Name.Line
	st := step{
		name: spec.Name.Value, when: CompileOptional(spec.When, problems), keep: CompileOptional(spec.Keep, problems),
		share: CompileOptional(spec.Share, problems), rules: compileRules(spec.Judge, problems), vars: compileVars(spec.Vars, declared, problems),
		renew: spec.Renew, env: env, timeout: time.Duration(spec.Timeout), optional: spec.Optional,
	}
	if spec.For > 0 && env.Keeper != nil {
		st.shelf = env.Keeper.Shelf(s.endpoint, ShelfRule{
			Step: st.name, Version: spec.version(), Lasts: time.Duration(spec.For), Timeout: cmp.Or(st.timeout, s.timeout), Shared: spec.Shared,
		})
	}
	if !varName.MatchString(st.name) {
		problems.Add(line, "step %q: want a name of small letters, digits and _", st.name)
	}
	if spec.Renew && spec.For == 0 {
		problems.Add(line, "step %s: renew: without for: there is nothing to forget", st.name)
	}
	if spec.Shared && spec.For == 0 {
		problems.Add(line, "step %s: shared: without for: nothing is kept", st.name)
	}
	if (spec.HTTP == nil) == (spec.Share == nil) {
		problems.Add(line, "step %s: want http or share, and one of them only", st.name)
	}
	if spec.HTTP != nil {
		st.get, st.host = compileHTTP(spec.HTTP, line, declared, env, problems)
		if spec.HTTP.Decode == "image" || spec.HTTP.Parts.given() {
			problems.Add(line, "step %s: want neither decode: image nor parts", st.name)
		}
	}
	declared[st.name] = true
	return st
}

// do makes the request, unless its outcome is still kept from another call,
// and keeps what it is for.
func (st *step) do(ctx context.Context, in *input) error {
	if st.when != nil {
		serves, err := st.when.True(ctx, nil, in.env)
		if err != nil || !serves {
			in.keep(st.name, nil)
			return err
		}
	}
	if err := in.compute(ctx, st.vars); err != nil {
		return err
	}
	value, err := st.ask(ctx, in)
	switch {
	case err == nil:
		in.stage("kept "+st.name, value)
	case st.optional && ctx.Err() == nil && KindOf(err) != Internal:
		in.stage("without "+st.name, err.Error())
		value = nil
	default:
		return err
	}
	st.derive(in, value)
	in.keep(st.name, value)
	return nil
}

// derive notes what is secret in the outcome.
func (st *step) derive(in *input, value any) {
	text, alone := value.(string)
	switch {
	case len(in.hidden) == 0:
	case alone && (st.bearer || st.secret):
		in.derive(text, redact.DerivedMin)
	case st.secret:
		in.derive(value, redact.SignatureMin)
	}
}

// ask gives the outcome, within the step's own time.
func (st *step) ask(ctx context.Context, in *input) (any, error) {
	if st.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, st.timeout)
		defer cancel()
	}
	ctx = atStep(ctx, st.name, 0)
	if st.share != nil {
		return st.follow(ctx, in)
	}
	return st.exchange(ctx, in)
}

// exchange asks the step's host, unless what an equal request brought is kept.
func (st *step) exchange(ctx context.Context, in *input) (any, error) {
	req, body, err := st.get.request(ctx, in)
	if err != nil {
		return nil, fail(Internal, "%w", err)
	}
	id := requestLine(req) + " " + string(body)
	if st.renew && st.shelf != nil {
		in.entry = append(in.entry, entry{st.shelf, id})
	}
	return st.remembered(ctx, in, id, func(ctx context.Context, in *input) (any, error) {
		r, err := guarded(ctx, st.host, st.rules, in, func(ctx context.Context) (*reply, error) { return st.get.exchange(req.WithContext(ctx), in) })
		if err != nil {
			return nil, err
		}
		return st.kept(ctx, r, in.env)
	})
}

// remembered gives what is kept under the id, else asks and keeps.
func (st *step) remembered(ctx context.Context, in *input, id string, ask func(context.Context, *input) (any, error)) (any, error) {
	if st.shelf == nil {
		return ask(ctx, in)
	}
	sub := in.fork()
	asked := false
	value, born, err := st.shelf.Fetch(ctx, id, func(ctx context.Context) (any, error) {
		asked = true
		defer sub.room.release()
		v, err := ask(ctx, sub)
		return v, sub.redactor().Err(err) // others hear of it too
	})
	if err != nil {
		return nil, err
	}
	if in.dates(born); asked {
		in.join(sub)
	}
	return value, nil
}

// kept is what the step makes of a reply.
func (st *step) kept(ctx context.Context, r *reply, env *jq.Env) (any, error) {
	if st.keep == nil {
		return r.body, nil
	}
	v, err := st.keep.One(ctx, r.body, env)
	if err != nil {
		return nil, fail(Malformed, "step %s: keep: %w", st.name, err)
	}
	return v, nil
}

// guarded makes one exchange under the host's breaker; the verdict is part of
// what the breaker learns, because upstreams say "not now" with status 200. A
// nil host has no breaker.
func guarded(ctx context.Context, h *host.Host, rules []rule, in *input, ask func(context.Context) (*reply, error)) (*reply, error) {
	done := func(host.Outcome) {}
	if h != nil {
		var err error
		if ctx, done, err = h.Enter(ctx, in.call.Caller); err != nil {
			return nil, err
		}
	}
	returned := false
	defer func() {
		if !returned { // a panic gives back what was taken
			done(host.Healthy)
		}
	}()
	r, err := ask(ctx)
	if err == nil && !r.judged {
		see(in.env, r)
		err = judge(ctx, rules, r, in.env)
	}
	returned = true
	done(outcome(err))
	return r, err
}

// see gives programs what they may know of a reply beside its body.
func see(e *jq.Env, r *reply) {
	e.Status, e.Location, e.Cookies, e.Headers = r.status, r.header.Get("Location"), cookies(r.header), headers(r.header)
}

// cookies are those that a reply sets, by name.
func cookies(h http.Header) map[string]any {
	set := map[string]any{}
	for _, line := range h["Set-Cookie"] {
		if c, err := http.ParseSetCookie(line); err == nil {
			set[c.Name] = c.Value
		}
	}
	return set
}

// headers are those of a reply by their names in small letters; of several of a
// name the first.
func headers(h http.Header) map[string]any {
	all := make(map[string]any, len(h))
	for name, values := range h {
		if len(values) > 0 {
			all[strings.ToLower(name)] = values[0]
		}
	}
	return all
}
