package upstreams

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"time"

	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// compileKind holds the table of every kind of source there is. A kind compiles
// its own section and says which host it calls: nil when the target is the
// caller's, or when there is none. A nil fetcher leaves the source out.
func compileKind(spec *SourceSpec, declared map[string]bool, env *Environment, problems *declare.Problems) (fetcher, *host.Host) {
	line, timeout := spec.Name.Line, cmp.Or(time.Duration(spec.Timeout), defaultTimeout)
	type kind struct {
		given   bool
		compile func() (fetcher, *host.Host)
	}
	table := []kind{
		{spec.HTTP != nil, func() (fetcher, *host.Host) { return compileHTTP(spec.HTTP, line, declared, env, problems) }},
		{spec.Minecraft != nil, func() (fetcher, *host.Host) { return compileMinecraft(spec.Minecraft, env), nil }},
		{spec.QRCode != nil, func() (fetcher, *host.Host) { return compileQRCode(spec.QRCode, line, env, problems), nil }},
		{spec.GeoIP != nil, func() (fetcher, *host.Host) { return compileGeoIP(spec.GeoIP, line, env, problems), nil }},
		{spec.Embedded != nil, func() (fetcher, *host.Host) { return compileEmbedded(spec.Embedded, line, env, problems), nil }},
		{spec.Computed != nil, func() (fetcher, *host.Host) { return computed{}, nil }},
		{spec.IDCard != nil, func() (fetcher, *host.Host) { return cardReader{}, nil }},
		{spec.IPCard != nil, func() (fetcher, *host.Host) { return compileIPCard(spec.IPCard, line, env, problems), nil }},
		{spec.Favicon != nil, func() (fetcher, *host.Host) { return compileFavicon(spec.Favicon, line, timeout, env, problems), nil }},
		{spec.Shortlink != nil, func() (fetcher, *host.Host) { return compileShortlink(timeout, env), nil }},
	}
	var chosen *kind
	for i := range table {
		if !table[i].given {
			continue
		}
		if chosen != nil {
			problems.Add(line, "source %q: of two kinds; want one", spec.Name.Value)
		}
		chosen = &table[i]
	}
	if chosen == nil {
		problems.Add(line, "source %q: of no kind; want one of http, minecraft, qrcode, geoip, embedded, computed, idcard, ipcard, favicon, shortlink", spec.Name.Value)
		return nil, nil
	}
	return chosen.compile()
}

// Compile makes a source of its declaration. params are the endpoint's
// parameter names. Mistakes go to problems. A source that lacks an optional
// database is left out: nil comes back. One that lacks a secret is left out by
// NewChain.
func Compile(endpoint string, spec *SourceSpec, params []string, env *Environment, problems *declare.Problems) *Source {
	line := spec.Name.Line
	if spec.Name.Value == "" {
		problems.Add(line, "source without a name")
	}
	if spec.Retry < 0 || spec.Retry > 2 {
		problems.Add(line, "source %q: retry: %d: want 0 to 2", spec.Name.Value, spec.Retry)
	}
	if n := spec.Negative; n != "" && n != "stop" && n != "next" {
		problems.Add(line, "source %q: negative: %q: want stop or next", spec.Name.Value, n)
	}
	s := &Source{
		Name: env.sign(spec.Name.Value), endpoint: endpoint, bare: spec.Name.Value, Limit: time.Duration(spec.TTL), timeout: time.Duration(spec.Timeout),
		retry: spec.Retry, next: spec.Negative == "next", optional: spec.Optional, lastResort: spec.LastResort, env: env, rules: compileRules(spec.Judge, problems),
	}
	if s.timeout == 0 {
		s.timeout = defaultTimeout
	}
	declared := declaredNames(spec, params)
	for i := range spec.Before {
		s.before = append(s.before, s.compileStep(&spec.Before[i], declared, env, problems))
	}
	s.vars = compileVars(spec.Vars, declared, problems)
	s.kind, s.host = compileKind(spec, declared, env, problems)
	s.remote = asksOthers(s.kind) || len(s.before) > 0
	s.programs(spec, env, problems)
	if s.kind == nil {
		return nil
	}
	s.credentials(endpoint, spec, env)
	s.traceSecrets(spec)
	s.seen = env.Metrics.source(endpoint, spec.Name.Value)
	return s
}

// asksOthers tells the kinds that need a network.
func asksOthers(kind fetcher) bool {
	switch k := kind.(type) {
	case *getter:
		return true
	case *pinger:
		return !k.assume
	case *iconFinder, *linkFollower:
		return true
	}
	return false
}

// declaredNames are what placeholders may refer to, before any step.
func declaredNames(spec *SourceSpec, params []string) map[string]bool {
	declared := map[string]bool{}
	for _, n := range params {
		declared[n] = true
	}
	for n := range spec.Secrets {
		declared[n] = true
	}
	return declared
}

// compileVars compiles placeholders' programs, in the order of their names:
// they do not see one another.
func compileVars(specs map[string]declare.Expr, declared map[string]bool, problems *declare.Problems) []variable {
	var out []variable
	for _, name := range slices.Sorted(maps.Keys(specs)) {
		e := specs[name]
		if !varName.MatchString(name) {
			problems.Add(e.Line, "var %q: want a name of small letters, digits and _", name)
		}
		out = append(out, variable{name: name, query: jq.Compile(&e, problems)})
		declared[name] = true
	}
	return out
}

// varName is what a placeholder can refer to.
var varName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// CompileOptional compiles a program that need not be there.
func CompileOptional(e *declare.Expr, problems *declare.Problems) *jq.Program {
	if e == nil {
		return nil
	}
	return jq.Compile(e, problems)
}

// programs compiles the jq of the source.
func (s *Source) programs(spec *SourceSpec, env *Environment, problems *declare.Problems) {
	s.when, s.mapping = CompileOptional(spec.When, problems), CompileOptional(spec.Map, problems)
	s.expires = CompileOptional(spec.Expires, problems)
	if spec.Picture != nil {
		s.picture = compilePicture(spec.Picture, env, problems)
	}
}

// credentials reads the secrets; in replay any will do.
func (s *Source) credentials(endpoint string, spec *SourceSpec, env *Environment) {
	s.secrets = make(map[string]any, len(spec.Secrets))
	for _, name := range slices.Sorted(maps.Keys(spec.Secrets)) {
		s.Variables = append(s.Variables, spec.Secrets[name].Value)
	}
	for name, variable := range spec.Secrets {
		value, ok := env.Secret(variable.Value)
		if env.Replay != nil {
			value, ok = "replay", true
		}
		if !ok {
			env.Log.Info("source left out: its key is not set", "endpoint", endpoint, "source", spec.Name.Value, "variable", variable.Value)
			s.Missing = variable.Value
			return
		}
		s.secrets[name] = value
		if env.Replay == nil { // what stands for them there is no secret
			s.hidden = append(s.hidden, redact.Forms(value)...)
		}
	}
}

// NewChain joins compiled sources. Those that are nil are dropped, those
// without their key are left out. refuses tells that the endpoint takes input
// that can be at fault: without, the chain never ends in a definite no.
func NewChain(endpoint string, sources []*Source, refuses bool, env *Environment) *Chain {
	c := &Chain{refuses: refuses, seen: env.Metrics.chain(endpoint)}
	for _, s := range sources {
		switch {
		case s == nil:
		case s.Missing != "":
			c.LeftOut = append(c.LeftOut, s)
		default:
			c.Sources = append(c.Sources, s)
		}
	}
	return c
}
