package recorded

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
)

// Witness is public code or a document that reads or shows the reply of a recorded
// exchange.
type Witness struct {
	// Repository on GitHub, as owner/name, with the commit and the file that were
	// read.
	Repository string `yaml:"repository,omitempty"`
	Commit     string `yaml:"commit,omitempty"`
	Path       string `yaml:"path,omitempty"`
	// Document is an address, in place of a repository.
	Document string `yaml:"document,omitempty"`
	// Fields of the reply that the witness reads or shows; see Seen.
	Fields []Seen `yaml:"fields"`
	line   int
}

// UnmarshalYAML notes the line.
func (w *Witness) UnmarshalYAML(n *yaml.Node) error {
	type plain Witness
	if err := n.Load((*plain)(w)); err != nil {
		return err
	}
	w.line = n.Line
	return nil
}

// Shape implements declare.Shaped: that of its fields.
func (Witness) Shape(of func(any) *declare.Shape) *declare.Shape {
	type plain Witness
	return of(plain{})
}

// The forms of what names a witness.
var (
	repositoryPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)
	commitPattern     = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

func (w *Witness) check(problems *declare.Problems) {
	if err := w.checkPlace(); err != nil {
		problems.Add(w.line, "witnesses: %v", err)
	}
	if len(w.Fields) == 0 {
		problems.Add(w.line, "witnesses: fields: expected what the witness reads of the reply, for example [data.title, data.list[].url]")
	}
}

// checkPlace reports a witness that nobody could look up.
func (w *Witness) checkPlace() error {
	switch {
	case (w.Repository == "") == (w.Document == ""):
		return errors.New("expected either a repository with its commit and path, or a document")
	case w.Document != "":
		u, err := url.Parse(w.Document)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("document: expected an address, for example https://docs.example.org/api, got %q", w.Document)
		}
		if w.Commit != "" || w.Path != "" {
			return errors.New("document: commit and path belong to a repository")
		}
	case !repositoryPattern.MatchString(w.Repository):
		return fmt.Errorf("repository: expected owner/name, for example torvalds/linux, got %q", w.Repository)
	case !commitPattern.MatchString(w.Commit):
		return fmt.Errorf("commit: expected all 40 hexadecimal digits, got %q", w.Commit)
	case w.Path == "":
		return errors.New("path: expected the file that was read, for example src/parser.py")
	}
	return nil
}

// Link is where the witness can be read.
func (w *Witness) Link() string {
	if w.Document != "" {
		return w.Document
	}
	return "https://github.com/" + w.Repository + "/blob/" + w.Commit + "/" + (&url.URL{Path: w.Path}).EscapedPath()
}

// Seen is what a witness reads or shows of a reply. Of its four forms, the first is
// for replies that are JSON, or have JSON in them:
//
//	data.list[].url   a field; [] stands for the items of an array, * for any name
//	text: "…"         a text in the body
//	Location          a header
//	status            the status, which the exchange has to give
//
// Before it may stand the step whose reply is meant, as in "token: data.key". Without
// one it is the reply to the source's own request.
type Seen struct {
	Step, Text, Name string
}

// Shape implements declare.Shaped.
func (Seen) Shape(func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{What: "a text", Example: `'text: "…"' or "token: data.key", quoted because of the colon`}
}

var stepPattern = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// UnmarshalYAML reads the forms above.
func (s *Seen) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return errors.New(`expected strings; quote what has a colon, as in 'text: "…"' or "token: data.key"`)
	}
	what := n.Value
	if step, rest, ok := strings.Cut(what, ": "); ok && step != "text" && stepPattern.MatchString(step) {
		s.Step, what = step, rest
	}
	text, ok := strings.CutPrefix(what, "text: ")
	if !ok {
		s.Name = what
		return s.checkName()
	}
	var err error
	if s.Text, err = strconv.Unquote(text); err != nil || s.Text == "" {
		return fmt.Errorf(`expected text: "…" with the text in double quotes, got %q`, n.Value)
	}
	return nil
}

// fieldPattern matches one name of a dotted path.
var fieldPattern = regexp.MustCompile(`^[^\[\]\s]*(\[\])*$`)

func (s *Seen) checkName() error {
	for part := range strings.SplitSeq(s.Name, ".") {
		if part == "" || !fieldPattern.MatchString(part) {
			return fmt.Errorf("expected a dotted path, for example data.list[].url, got %q", s.Name)
		}
	}
	return nil
}
