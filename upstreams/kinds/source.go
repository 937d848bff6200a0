package kinds

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/jq"
)

// Endpoint is what the declaration of a source may refer to of its endpoint.
type Endpoint struct {
	Name string
	// Params are the names of its parameters.
	Params []string
	// Defs are the functions that its programs may call; nil: none.
	Defs *jq.Defs
	// Variables describe what operators may give, by name. What is not described is
	// secret.
	Variables map[string]upstreams.Variable
	// Uses notes what sources read of what they declare.
	Uses *jq.Uses
	// Place says where a line is; nil: in the only file of the endpoint.
	Place func(line int) string
}

// Compile compiles the declaration of a source. Mistakes go to problems; what comes
// back must not be used then. It returns nil for a source that is left out because
// its database is not configured. A source without one of its secrets is left out
// by upstreams.NewChain, which reports it.
func Compile(endpoint Endpoint, spec *SourceSpec, env *upstreams.Environment, problems *declare.Problems) *upstreams.Source {
	c := &upstreams.Compiler{
		Endpoint: endpoint.Name, Source: spec.Name.Value, Line: spec.Name.Line, Timeout: cmp.Or(time.Duration(spec.Timeout), upstreams.DefaultTimeout),
		Env: env, Problems: problems, Place: endpoint.Place,
	}
	if c.Source == "" {
		c.Add("source without a name; expected one, for example name: kuaidi100")
	}
	c.Scope = jq.NewScope(endpoint.Params, nil, endpoint.Defs)
	c.Scope.Uses = endpoint.Uses
	r := credentialReader{c: c, described: endpoint.Variables}
	c.Credentials = r.read(spec)
	cfg := upstreams.SourceConfig{
		Declared: spec.Name.Value, Limit: time.Duration(spec.TTL), Timeout: c.Timeout, Retry: spec.Retry,
		Next: spec.Negative == "next", Optional: spec.Optional, LastResort: spec.LastResort, After: spec.After,
		Credentials: c.Credentials,
	}
	cfg.When = c.Program(spec.When)
	for i := range spec.Before {
		step := httpsource.CompileStep(&spec.Before[i], spec.stepReaders(&spec.Before[i]), c)
		cfg.Before = append(cfg.Before, step)
		cfg.AddShape(step.Shape)
	}
	cfg.Vars = jq.CompileVars(spec.Vars, c.Scope, problems)
	cfg.Kind = compileKind(spec.Sections, c)
	cfg.Rules = c.Rules(spec.Judge)
	cfg.Map, cfg.Expires = c.OfReply(spec.Map), c.OfReply(spec.Expires)
	if spec.Empty != nil {
		cfg.Empty = c.OfReply(spec.Empty.If)
	}
	if spec.Picture != nil {
		cfg.Picture = httpsource.CompilePicture(spec.Picture, c)
	}
	if spec.Draw != "" {
		cfg.Picture = digestPicture{&c.Env.Work}
	}
	if cfg.Canary = spec.canary(endpoint.Params, problems); cfg.Kind.Fetch == nil {
		return nil
	}
	if decode := cfg.Kind.DecodeKnown; decode != nil {
		cfg.AddShape(c.ShapeOfReplies("", endpoint.Defs.Reads(spec.readers()...), decode))
	}
	cfg.Quota = spec.quota(c, cfg.Kind.Host)
	return upstreams.NewSource(endpoint.Name, cfg, env)
}

// readers are the programs that read the source's own reply.
func (s *SourceSpec) readers() []*declare.Expr {
	programs := []*declare.Expr{s.Map}
	for _, rule := range s.Judge {
		programs = append(programs, rule.If)
	}
	if s.Empty != nil {
		programs = append(programs, s.Empty.If)
	}
	return programs
}

// stepReaders are the programs of the source that read the reply of a step: those that
// may read its result, if that is the whole reply.
func (s *SourceSpec) stepReaders(step *httpsource.StepSpec) []*declare.Expr {
	if step.Keep != nil {
		return nil
	}
	programs := s.readers()
	for _, name := range slices.Sorted(maps.Keys(s.Vars)) {
		e := s.Vars[name]
		programs = append(programs, &e)
	}
	for i := range s.Before {
		programs = append(programs, s.Before[i].Keep)
	}
	return programs
}

// AlwaysAnswers reports whether the source computes its answer of nothing that may be
// missing, so that none behind it is asked.
func (s *SourceSpec) AlwaysAnswers() bool {
	return s.Sections["computed"].Node != nil && s.When == nil && s.After == "" && len(s.Before)+len(s.Judge)+len(s.Secrets) == 0 && s.Picture == nil &&
		(s.Map == nil || !mayFail.MatchString(s.Map.Text))
}

// mayFail matches programs that fail on purpose.
var mayFail = regexp.MustCompile(`\b(error|empty|select|objects|arrays|strings|tonumber|fromjson)\b`)

// MayBeNegative reports whether one of its rules makes an answer negative, or its kind may
// by itself.
func (s SourceSpec) MayBeNegative() bool { //nolint:gocritic // for slices.ContainsFunc, at load
	is := func(r upstreams.RuleSpec) bool { return r.Is.Value == upstreams.Negative.String() }
	if slices.ContainsFunc(s.Judge, is) || s.Sections["http"].Node == nil && s.Sections["computed"].Node == nil {
		return true
	}
	return slices.ContainsFunc(s.Before, func(st httpsource.StepSpec) bool { return slices.ContainsFunc(st.Judge, is) })
}

// canary reads the input that cannot exist.
func (s *SourceSpec) canary(params []string, problems *declare.Problems) map[string]string {
	input := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Canary)) {
		if !slices.Contains(params, name) {
			problems.Add(s.Canary[name].Line, "canary: %s: expected a parameter of the endpoint, one of %s", name, strings.Join(params, ", "))
		}
		input[name] = s.Canary[name].Value
	}
	return input
}

// quota is that of the declared rate; nil: none is declared.
func (s *SourceSpec) quota(c *upstreams.Compiler, h *host.Host) *host.Quota {
	if s.Rate.Calls == 0 {
		return nil
	}
	of := c.Endpoint + "/" + c.Source
	if h != nil {
		of = h.Name
	}
	return c.Env.Quotas.Get(of, s.Rate.Calls, s.Rate.Per)
}
