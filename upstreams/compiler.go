package upstreams

import (
	"context"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/host"
	"sundry/upstreams/jq"
)

// Compiler compiles the declaration of one source, from top to bottom. Mistakes
// go to Problems.
type Compiler struct {
	// Endpoint and Source as declared.
	Endpoint, Source string
	// Line that the source begins on, for mistakes without a line of their own.
	Line int
	// Timeout of an attempt.
	Timeout time.Duration
	// Credentials of the source, and the variables of those that it requires, by the
	// names of their placeholders.
	Credentials
	Required map[string]string
	// Scope grows with each step and variable; it has the file's defs.
	Scope    *jq.Scope
	Env      *Environment
	Problems *declare.Problems
	// Place says where a line is; nil: in the only file of the endpoint.
	Place func(line int) string
}

// Add notes a mistake on the line of the source.
func (c *Compiler) Add(format string, args ...any) { c.Problems.Add(c.Line, format, args...) }

// Decode reads a section of the declaration, which was checked with its file, into a
// struct.
func (c *Compiler) Decode(section *yaml.Node, into any) { declare.Load(section, into, c.Problems) }

// Program compiles a program of the source that runs before its reply; nil stays nil.
func (c *Compiler) Program(e *declare.Expr) *jq.Program {
	c.Scope.Check(e, jq.Asking, c.Problems)
	return jq.Compile(e, c.Scope.Defs, c.Problems)
}

// OfReply compiles a program of the source that runs after its reply; nil stays nil.
func (c *Compiler) OfReply(e *declare.Expr) *jq.Program {
	c.Scope.Check(e, jq.Answering, c.Problems)
	return jq.Compile(e, c.Scope.Defs, c.Problems)
}

// Rules compiles judge rules of the source.
func (c *Compiler) Rules(specs []RuleSpec) []Rule {
	rules := CompileRules(specs, c.Scope.Defs, c.Problems)
	for i := range rules {
		c.Scope.Check(specs[i].If, jq.Asking, c.Problems)
		if c.Place != nil {
			rules[i].place = c.Place(specs[i].Is.Line)
		}
	}
	return rules
}

// Compiled is what the section of a source's kind compiles to.
type Compiled struct {
	// Fetch asks; nil leaves the source out.
	Fetch Fetch
	// Admit takes a slot for a source without a declared host; nil: nothing bounds it.
	Admit func(ctx context.Context, a *Attempt) (release func(), err error)
	// Host is its declared host; nil for a caller-supplied target, and for a local
	// source.
	Host *host.Host
	// Remote: it needs a remote service.
	Remote bool
	// Selective: it skips inputs by itself, without a when condition.
	Selective bool
	// Draws is the format in which it draws pictures here, png or svg; "": it draws none.
	Draws string
	// LargestPicture is the greatest size of the pictures that it receives, in bytes; 0: its
	// replies are none.
	LargestPicture int64
	// DecodeKnown decodes the bodies of a known reply; nil: none is known.
	DecodeKnown func(bodies [][]byte) (any, error)
}
