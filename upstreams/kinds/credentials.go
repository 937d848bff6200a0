package kinds

import (
	"maps"
	"slices"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// credentialReader reads the secrets and options of a source.
type credentialReader struct {
	c         *upstreams.Compiler
	described map[string]upstreams.Variable
	out       upstreams.Credentials
}

// read reads them all, and notes which are required: without one of these the source is left out.
func (r *credentialReader) read(s *SourceSpec) upstreams.Credentials {
	r.out.Secrets, r.c.Required = map[string]any{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		variable := s.Secrets[name]
		r.c.Required[name] = variable.Value
		if !r.one(name, variable, replayed(variable.Value)) && r.out.Missing == "" {
			r.out.Missing = variable.Value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if _, both := s.Secrets[name]; both {
			r.c.Problems.Add(s.Options[name].Line, "options: %s is below secrets: as well; expected it once", name)
			continue
		}
		r.one(name, s.Options[name], "")
		r.out.Options = append(r.out.Options, s.Options[name].Value)
	}
	return r.out
}

// one sets a placeholder from its variable, and reports whether that has a value. A
// replay needs none, and uses the given one, which is not redacted.
func (r *credentialReader) one(name string, variable declare.Text, inReplay string) bool {
	if !jq.IsName(name) {
		r.c.Problems.Add(variable.Line, "placeholder %q: expected a name of lower-case letters, digits and underscores, for example key", name)
	}
	r.out.Variables = append(r.out.Variables, variable.Value)
	public := false
	if v, ok := r.described[variable.Value]; ok {
		public = !v.Secret
	}
	r.c.Scope.AddCredential(name, variable.Line)
	r.c.Scope.Uses.Declare("secret", name, variable.Line)
	if r.c.Env.Replay != nil {
		r.out.Secrets[name] = inReplay
		return true
	}
	value, _ := r.c.Env.Secret(variable.Value)
	r.out.Secrets[name] = value
	if !public && value != "" {
		r.c.Env.Hidden.Add(value)
		r.out.Hidden = true
	}
	return value != ""
}

// replayed is what a replay uses for a secret: an address where its variable is that
// of one.
func replayed(variable string) string {
	name, address := strings.CutSuffix(strings.TrimPrefix(variable, "SUNDRY_"), "_URL")
	if !address {
		return "replay"
	}
	return "https://" + strings.ReplaceAll(strings.ToLower(name), "_", "-") + ".example"
}
