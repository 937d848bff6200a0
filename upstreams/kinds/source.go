package kinds

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// Endpoint is what the declaration of a source may refer to.
type Endpoint struct {
	Name string
	// Params are the names of its parameters.
	Params []string
	// Defs are the functions that its programs may call.
	Defs *jq.Defs
}

// Compile makes a source of its declaration. Mistakes go to problems. A source that lacks an optional
// database is left out: nil comes back. One that lacks a secret is left out by
// NewChain.
func Compile(of Endpoint, spec *SourceSpec, env *upstreams.Environment, problems *declare.Problems) *upstreams.Source {
	c := &upstreams.Compiler{
		Endpoint: of.Name, Source: spec.Name.Value, Line: spec.Name.Line, Timeout: cmp.Or(time.Duration(spec.Timeout), upstreams.DefaultTimeout),
		Scope: jq.NewScope(of.Params, slices.Sorted(maps.Keys(spec.Secrets)), of.Defs), Env: env, Problems: problems,
	}
	spec.check(c)
	cfg := upstreams.SourceConfig{
		Declared: spec.Name.Value, Limit: time.Duration(spec.TTL), Timeout: c.Timeout, Retry: spec.Retry,
		Next: spec.Negative == "next", Optional: spec.Optional, LastResort: spec.LastResort, Rules: c.Rules(spec.Judge),
	}
	for i := range spec.Before {
		cfg.Before = append(cfg.Before, httpsource.CompileStep(&spec.Before[i], c))
	}
	cfg.Vars = jq.CompileVars(spec.Vars, c.Scope, problems)
	cfg.Kind = compileKind(spec.Sections, c)
	cfg.When, cfg.Map, cfg.Expires = c.Program(spec.When), c.Program(spec.Map), c.Program(spec.Expires)
	if spec.Picture != nil {
		cfg.Picture = httpsource.CompilePicture(spec.Picture, c)
	}
	if cfg.Kind.Fetcher == nil {
		return nil
	}
	spec.credentials(c, &cfg)
	return upstreams.NewSource(of.Name, cfg, env)
}

// check tells mistakes of the fields that all kinds have.
func (s *SourceSpec) check(c *upstreams.Compiler) {
	if s.Name.Value == "" {
		c.Add("source without a name")
	}
	if s.Retry < 0 || s.Retry > 2 {
		c.Add("source %q: retry: %d: want 0 to 2", c.Source, s.Retry)
	}
	if n := s.Negative; n != "" && n != "stop" && n != "next" {
		c.Add("source %q: negative: %q: want stop or next", c.Source, n)
	}
}

// credentials reads the secrets; in replay any will do.
func (s *SourceSpec) credentials(c *upstreams.Compiler, cfg *upstreams.SourceConfig) {
	cfg.Secrets = make(map[string]any, len(s.Secrets))
	names := slices.Sorted(maps.Keys(s.Secrets))
	for _, name := range names {
		cfg.Variables = append(cfg.Variables, s.Secrets[name].Value)
	}
	for _, name := range names {
		variable := s.Secrets[name].Value
		if c.Env.Replay != nil {
			cfg.Secrets[name] = "replay" // what stands for them there is no secret
			continue
		}
		value, ok := c.Env.Secret(variable)
		if !ok {
			c.Env.Log.Info("source left out: its key is not set", "endpoint", c.Endpoint, "source", c.Source, "variable", variable)
			cfg.Missing = variable
			return
		}
		cfg.Secrets[name] = value
		cfg.Hidden = append(cfg.Hidden, redact.Forms(value)...)
	}
}
