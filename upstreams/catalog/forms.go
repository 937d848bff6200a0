package catalog

import (
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// Form is a compiled form of the answer.
type Form struct {
	Name string
	// Kind is json, text, markdown, script, redirect, interstitial or picture.
	Kind string
	Pool bool // one candidate is picked for every request
	// Chain that makes it.
	Chain  *Chain
	Index  int // in the entries of its chain
	each   *jq.Program
	fields []*Field    // of its JSON
	make   *jq.Program // nil: the source's own picture
	// English is the same text with labels in English; nil: there is one text for all.
	English *Form
	english bool // it is one of those
	// PictureProxy serves the picture that the redirect leads to; nil: the
	// caller is redirected.
	PictureProxy *PictureProxy
}

// Chain is a compiled chain with the forms that it makes.
type Chain struct {
	*upstreams.Chain
	Name   string
	Forms  []*Form
	prefix string // of its keys
}

// IsPicture reports whether its answers are pictures, rather than links to them.
func (f *Form) IsPicture() bool { return f.Kind == "picture" || f.PictureProxy != nil }

// IsSVG reports whether its pictures are drawn here, as SVG.
func (f *Form) IsSVG() bool { return f.isDrawn("svg") }

// IsPNG reports whether its pictures are drawn here, as PNG.
func (f *Form) IsPNG() bool { return f.isDrawn("png") }

func (f *Form) isDrawn(format string) bool {
	other := func(s *upstreams.Source) bool { return s.Kind.Draws != format }
	return f.IsPicture() && len(f.Chain.Sources) > 0 && !slices.ContainsFunc(f.Chain.Sources, other)
}

// JSON is the chain's form whose answers are JSON; nil for none.
func (c *Chain) JSON() *Form {
	for _, f := range c.Forms {
		if f.Kind == "json" {
			return f
		}
	}
	return nil
}

func compileForm(s *formSpec, defs *jq.Defs, problems *declare.Problems) *Form {
	f := &Form{Name: s.Name.Value}
	contents := s.contents()
	for _, c := range contents {
		f.Kind = c.kind
		if c.kind != "picture" || strings.TrimSpace(c.program.Text) != "source" {
			f.make = jq.Compile(c.program, defs, problems)
		}
	}
	if f.Name == "" {
		problems.Add(s.line(), "form without a name; expected one, for example name: json")
	}
	if len(contents) != 1 {
		problems.Add(s.Name.Line, "form %q: expected exactly one of json, text, markdown, script, redirect, interstitial and picture", f.Name)
	}
	if s.Through != nil && (s.Redirect == nil || s.Through.TTL <= 0) {
		problems.Add(s.Name.Line, "form %q: through: expected beside a redirect, with a ttl, for example {chain: pictures, ttl: 1h}", f.Name)
	}
	if s.Each != nil {
		f.Pool, f.each = true, jq.Compile(s.Each, defs, problems)
	}
	if f.Kind == "text" && f.make.ReadsLanguage() {
		english := *f
		english.Name, english.english = f.Name+".en", true
		f.English = &english
	}
	return f
}

// In is the form for callers who read English, or for the others.
func (f *Form) In(english bool) *Form {
	if english && f.English != nil {
		return f.English
	}
	return f
}

// form finds one by name; the parser of form parameters accepts only names that
// exist.
func (e *Endpoint) form(name string) *Form {
	for _, f := range e.Forms {
		if f.Name == name {
			return f
		}
	}
	return e.Forms[0]
}

// FormNames lists its forms, the default first.
func (e *Endpoint) FormNames() []string { return namesOf(e.Forms) }

func namesOf(forms []*Form) []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.Name
	}
	return names
}

// FormNamesOf lists the forms of the entry of a cache key, in their places; nil for what is
// no answer, such as a picture.
func (e *Endpoint) FormNamesOf(key string) []string {
	if c := e.chainOf(key); c != nil {
		return namesOf(c.Forms)
	}
	return nil
}

// AskedForms are the forms of a chain, in their places, each as callers ask for it, such as "type=text, zh".
func (e *Endpoint) AskedForms(c *Chain) []words.Text {
	asked := make([]words.Text, len(c.Forms))
	for _, f := range e.Forms {
		if f.Chain != c {
			continue
		}
		asked[f.Index] = words.Say(f.Name+", by default", f.Name+"（默认）")
		if name, value := e.AskFor(f.Name); name != "" {
			asked[f.Index] = words.Name(name + "=" + value)
		}
		if f.English != nil {
			asked[f.English.Index] = words.Sayf("%s, en", "%s，英文", asked[f.Index])
			asked[f.Index] = words.Sayf("%s, zh", "%s，中文", asked[f.Index])
		}
	}
	return asked
}

// chainOf is the chain whose answers have a cache key; nil for a key of others.
func (e *Endpoint) chainOf(key string) *Chain {
	for _, c := range e.Chains {
		if rest, ok := strings.CutPrefix(key, c.prefix); ok && strings.HasPrefix(rest, ":") {
			return c
		}
	}
	return nil
}
