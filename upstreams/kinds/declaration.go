package kinds

import (
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
)

// SourceSpec is a source as the catalog declares it. Exactly one of its kinds
// is given.
type SourceSpec struct {
	Name    declare.Text `yaml:"name"`
	Summary string       `yaml:"summary"`
	// Timeout bounds one attempt; 0 means 3 s.
	Timeout declare.Duration `yaml:"timeout"`
	// Retry is how often an unavailable host is asked again, 0 to 2.
	Retry int `yaml:"retry"`
	// TTL shortens how long this source's answers are fresh; 0: does not.
	TTL declare.Duration `yaml:"ttl"`
	// Negative is what a definite no does: "stop" (default) ends the chain,
	// "next" asks the next source.
	Negative string `yaml:"negative"`
	// Optional is a source whose failure does not outweigh what the others said:
	// where they all say no, that is the answer.
	Optional bool `yaml:"optional"`
	// LastResort is a source that is asked only where no copy may stand in. Its
	// answer is kept briefly. Such sources come last.
	LastResort bool `yaml:"last_resort"`
	// When is a jq condition on $params; nil: always.
	When *declare.Expr `yaml:"when"`
	// Secrets are placeholders filled from the environment. A source that
	// lacks one is left out.
	Secrets map[string]declare.Text `yaml:"secrets"`
	// Before are requests made before the source's own, in order.
	Before []httpsource.StepSpec `yaml:"before"`
	// Vars are placeholders computed by jq from $params, $now, $secrets and
	// what the steps before kept.
	Vars map[string]declare.Expr `yaml:"vars"`
	// Judge rules come before the default table; the first that fits rules.
	Judge []upstreams.RuleSpec `yaml:"judge"`
	// Map makes data out of what the source brought; nil: as it is.
	Map *declare.Expr `yaml:"map"`
	// Expires is a jq program on the data: unix seconds, or null.
	Expires *declare.Expr `yaml:"expires"`
	// Picture is fetched after the data, from where the data says.
	Picture *httpsource.PictureSpec `yaml:"picture"`

	// Sections hold that of the source's kind, by its name.
	Sections map[string]declare.Section `yaml:",inline"`
}
