package kinds

import (
	"maps"
	"slices"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// credentials reads the source's secrets and options. Without one of its secrets it
// is left out.
func (s *SourceSpec) credentials(c *upstreams.Compiler) upstreams.Credentials {
	out := upstreams.Credentials{Secrets: map[string]any{}}
	for _, name := range slices.Sorted(maps.Keys(s.Secrets)) {
		variable := s.Secrets[name]
		if !readCredential(&out, name, variable, replayed(variable.Value), c) && out.Missing == "" {
			out.Missing = variable.Value
			c.Env.Log.Info("source left out: its key is not set", "endpoint", c.Endpoint, "source", c.Source, "variable", out.Missing)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		if _, both := s.Secrets[name]; both {
			c.Problems.Add(s.Options[name].Line, "options: %s is below secrets: as well; expected it once", name)
			continue
		}
		readCredential(&out, name, s.Options[name], "", c)
	}
	return out
}

// required are the variables of the secrets by the names of their placeholders.
func (s *SourceSpec) required() map[string]string {
	variables := make(map[string]string, len(s.Secrets))
	for name, variable := range s.Secrets {
		variables[name] = variable.Value
	}
	return variables
}

// readCredential sets a placeholder from its variable, and reports whether that has a
// value. A replay needs none, and uses the given one, which is not redacted.
func readCredential(out *upstreams.Credentials, name string, variable declare.Text, inReplay string, c *upstreams.Compiler) bool {
	if !jq.IsName(name) {
		c.Problems.Add(variable.Line, "placeholder %q: expected a name of lower-case letters, digits and underscores, for example key", name)
	}
	out.Variables = append(out.Variables, variable.Value)
	if c.Env.Replay != nil {
		out.Secrets[name] = inReplay
		return true
	}
	value, _ := c.Env.Secret(variable.Value)
	out.Secrets[name] = value
	out.Hidden = append(out.Hidden, redact.Forms(value)...)
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
