package upstreams

import (
	"context"
	"slices"
	"time"

	"sundry/upstreams/fields"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// DefaultTimeout bounds an attempt of a source without a timeout of its own.
const DefaultTimeout = 3 * time.Second

// Fetch is what a kind of source compiles to. It returns a reply to be judged, or
// an Error. It must be safe for concurrent use.
type Fetch func(ctx context.Context, a *Attempt) (*Reply, error)

// Step is made before a source's own request. It sets its result in the attempt.
type Step interface {
	Make(ctx context.Context, a *Attempt) error
	// Host is the declared host that it calls; nil for none.
	Host() *host.Host
}

// Picture is fetched after the data, from a link in it.
type Picture interface {
	Fetch(ctx context.Context, data any, a *Attempt, env *jq.Env) (*Blob, error)
	// LargestPicture is the limit of its size in bytes.
	LargestPicture() int64
}

// SourceConfig is a compiled declaration.
type SourceConfig struct {
	// Declared is the source's name in its file.
	Declared string
	// Limit caps how long its answers are fresh; 0: no cap.
	Limit time.Duration
	// Timeout bounds one attempt.
	Timeout time.Duration
	// Retry is how often an attempt with a transient failure is repeated.
	Retry int
	// Next: a negative answer leads to the next source.
	Next bool
	// Optional: its failure does not count where the others answer negatively.
	Optional bool
	// LastResort: it is asked only where no usable copy exists.
	LastResort bool
	// After says after what it is asked; "": whatever the sources before it said.
	After After
	// Canary is an input that cannot exist, as query parameters; empty: none is known.
	Canary map[string]string
	// Quota bounds its attempts; nil: nothing does.
	Quota *host.Quota
	// Credentials are what only an operator can give.
	Credentials

	When    *jq.Program // nil: always
	Before  []Step
	Vars    []jq.Variable
	Kind    Compiled
	Rules   []Rule
	Shapes  []*ReplyShape // of the replies to its requests, as far as they are known
	Map     *jq.Program   // nil: the data is the reply's body
	Expires *jq.Program   // nil: never
	Empty   *jq.Program   // on the reply: that there is nothing is the answer; nil: it never is
	Picture Picture       // nil: none
}

// AddShape adds the shape of the replies to a request; nil adds nothing.
func (c *SourceConfig) AddShape(s *ReplyShape) {
	if s != nil {
		c.Shapes = append(c.Shapes, s)
	}
}

// After is what the sources before a source must have said together for it to be asked.
type After string

// The values of After. The zero value is whatever they said.
const (
	// AfterFailure: none of them could find out.
	AfterFailure After = "failure"
	// AfterNegative: what was asked for does not exist.
	AfterNegative After = "negative"
)

// follows reports whether a source with one of these values is asked after what the
// others came to.
func (a After) follows(err error) bool {
	return (KindOf(err) == Negative) == (a == AfterNegative)
}

// Credentials are the values of the environment variables that a source declares
// below secrets: and options:.
type Credentials struct {
	// Missing is the variable of a secret that is not set; "": all are.
	Missing string
	// Variables are those of all secrets and options, Options those of options.
	Variables, Options []string
	// Secrets are the values by the names of their placeholders; "" for an option
	// that is not set.
	Secrets map[string]any
	// Hidden reports whether one of them is set that may not be shown.
	Hidden bool
}

// Variable describes an environment variable that only an operator can give a value:
// the key of a service, a cookie, the address of a service of their own.
type Variable struct {
	Name string
	// EN and ZH say what it is and what it is good for.
	EN, ZH  string
	Example string
	// From is the page where it is to be had.
	From string
	// Cost of having it: free, paid, or own for what the operator hosts.
	Cost string
	// Secret: the value is redacted wherever it is shown.
	Secret bool
}

// Source is a compiled source. It is safe for concurrent use.
type Source struct {
	SourceConfig
	// Name as callers see it: with the prefix replay: for a replayed answer.
	Name     string
	endpoint string
	env      *Environment
	metrics  sourceMetrics
	// Demands are what its data must hold; nil: that is not declared.
	Demands *fields.Demands
	own     *ReplyShape // of Shapes: that of the replies to its own request
}

// NewSource makes a source of an endpoint.
func NewSource(endpoint string, cfg SourceConfig, env *Environment) *Source {
	s := &Source{SourceConfig: cfg, Name: env.sourceName(cfg.Declared), endpoint: endpoint, env: env, metrics: env.Metrics.source(endpoint, cfg.Declared)}
	if cfg.Quota != nil {
		s.metrics.withheld = env.Metrics.withheld.WithLabelValues(endpoint, cfg.Declared)
	}
	if i := slices.IndexFunc(cfg.Shapes, func(s *ReplyShape) bool { return s.Step == "" }); i >= 0 {
		s.own = cfg.Shapes[i]
	}
	return s
}

// Serves reports whether the source's condition holds for the call.
func (s *Source) Serves(ctx context.Context, call *Call) bool {
	serves, err := s.serves(ctx, call)
	return serves && err == nil
}

// serves reports whether the source's condition holds for the call.
func (s *Source) serves(ctx context.Context, call *Call) (bool, error) {
	if s.When == nil {
		return true, nil
	}
	return s.When.True(ctx, nil, &jq.Env{Params: call.Params, Now: call.Now, Secrets: s.Secrets})
}

// Hosts are the declared hosts that it calls, each once: those of its steps, then its own.
func (s *Source) Hosts() (all []*host.Host) {
	add := func(h *host.Host) {
		if h != nil && !slices.Contains(all, h) {
			all = append(all, h)
		}
	}
	for _, step := range s.Before {
		add(step.Host())
	}
	add(s.Kind.Host)
	return all
}

// Callable reports whether calls of the source get past the breaker of its host; where only its steps call hosts, past any of
// theirs, since not all steps are taken for every call.
func (s *Source) Callable() bool {
	hosts := s.Hosts()
	if own := s.Kind.Host; own != nil {
		hosts = []*host.Host{own}
	}
	return len(hosts) == 0 || slices.ContainsFunc(hosts, func(h *host.Host) bool { return h.State() != "open" })
}

// CallsDeclaredHost reports whether the source or a step before it calls a declared
// host.
func (s *Source) CallsDeclaredHost() bool { return s.Kind.Host != nil || len(s.Before) > 0 }

// Remote reports whether the source needs a remote service: a declared host, or a
// caller-supplied target.
func (s *Source) Remote() bool { return s.Kind.Remote || len(s.Before) > 0 }

// aside reports whether it is computed here and takes only some inputs, so that its answers say nothing about the
// sources that the other inputs need. One that is asked after a negative answer says that those work.
func (s *Source) aside() bool {
	return !s.Remote() && s.After != AfterNegative && (s.When != nil || s.Kind.Selective)
}

// Keyed reports whether it uses what the operator gave: a key, a cookie, an address.
func (s *Source) Keyed() bool {
	for _, v := range s.Secrets {
		if v != "" {
			return true
		}
	}
	return false
}

// LargestPicture is the limit of a picture's size in bytes; 0 for a source whose
// answers are not pictures.
func (s *Source) LargestPicture() int64 {
	if s.Picture != nil {
		return s.Picture.LargestPicture()
	}
	return s.Kind.LargestPicture
}
