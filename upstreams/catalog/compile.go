package catalog

import (
	"maps"
	"slices"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/kinds"
)

// MainChain is the name of the chain of the file's own sources.
const MainChain = "main"

// compile checks the file as a whole and makes an endpoint of it.
func compile(name string, d *declaration, variables map[string]upstreams.Variable, env *upstreams.Environment, problems *declare.Problems) *Endpoint {
	s := d.spec
	d.hints = nil
	e := &Endpoint{
		Name: name, EN: s.Summary.EN(), ZH: s.Summary.ZH(), Keywords: s.Keywords, Own: d.own,
		Policy: s.Cache.policy(problems), Warm: s.Cache.Warm && !s.Cache.Off, env: env,
	}
	checkNamed(s.Version, s.Name, name, problems)
	if s.Summary.IsZero() {
		problems.Add(s.Name.Line, "summary: expected a sentence, for example {en: A joke., zh: 笑话}, or one for both languages")
	}
	e.Title = compileTitle(s.Title, name, s.Summary.Text, s.Name.Line, problems)
	e.group, e.groupLine = s.Group.compile(s.Name.Line, problems), s.Group.name.Line
	e.Group = e.group.Name
	defs := jq.CompileDefs(s.Defs, problems)
	e.Fields = s.compileFields(problems)
	e.compileForms(s, defs, problems)
	e.compileParams(s, problems)
	uses := &jq.Uses{}
	of := kinds.Endpoint{Name: name, Params: s.inputs(), Defs: defs, Uses: uses, Variables: variables, Place: d.place}
	e.compileChains(s, of, env, problems)
	uses.Missing(problems)
	s.checkAsked(e, &d.hints)
	s.checkNames(defs, problems)
	e.edition = jq.Compile(s.Cache.Edition, defs, problems)
	e.fresh, e.leastFresh = jq.Compile(s.Cache.Fresh, defs, problems), leastFresh(s.Cache.Fresh)
	e.notFound = s.NotFound.compile(defs, problems)
	if !s.overridden {
		defs.Unused(problems)
		uses.Unread(&d.hints)
		s.checkTimeouts(&d.hints)
	}
	if e.Warm && slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Required || p.Caller }) {
		problems.Add(s.Name.Line, "cache: warm: expected an endpoint without required input, which alone can be filled ahead of requests")
	}
	e.places = d.places()
	return e
}

// checkNamed checks the version of a file and its name, which is that of the file.
func checkNamed(version int, name declare.Text, file string, problems *declare.Problems) {
	switch {
	case version == 0:
		problems.Add(1, "version: expected that of the grammar, as in version: 1")
	case version > 1:
		problems.Add(1, "version: expected at most 1, got %d; the file is for a newer version of Sundry: upgrade Sundry", version)
	}
	if !endpointName.MatchString(file) {
		problems.Add(0, "file name: expected lower-case letters, digits and hyphens, for example joke.yaml, got %q", file)
	}
	if name.Value != file {
		problems.Add(name.Line, "name: expected the name of the file, %q, got %q", file, name.Value)
	}
}

func (e *Endpoint) compileForms(s *endpointSpec, defs *jq.Defs, problems *declare.Problems) {
	if len(s.Forms) == 0 {
		problems.Add(s.Name.Line, "forms: expected at least one, for example {name: json, json: .}")
		e.Forms = []*Form{{}}
		return
	}
	for i := range s.Forms {
		f := compileForm(&s.Forms[i], defs, problems)
		if slices.ContainsFunc(e.Forms, func(o *Form) bool { return o.Name == f.Name }) {
			problems.Add(s.Forms[i].Name.Line, "form %q: declared twice", f.Name)
		}
		e.Forms = append(e.Forms, f)
	}
}

func (e *Endpoint) compileParams(s *endpointSpec, problems *declare.Problems) {
	if len(s.Params) > maxParams {
		problems.Add(s.Name.Line, "params: expected at most %d, got %d", maxParams, len(s.Params))
	}
	for _, ps := range s.Params {
		if slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Name == ps.Name.Value }) {
			problems.Add(ps.Name.Line, "param %s: declared twice", ps.Name.Value)
		}
		p := compileParam(ps, e.FormNames(), problems)
		if ps.Rest {
			e.rest = p
		}
		e.Params = append(e.Params, p)
	}
	for _, p := range e.Params {
		if name := p.Spec.StandsFor; name != "" {
			p.aliasOf = slices.IndexFunc(e.Params, func(o *Param) bool { return o.Name == name && o.Role == RoleInput && o != p })
			if p.aliasOf < 0 {
				problems.Add(p.Spec.Name.Line, "param %s: stands_for: expected the name of another input of this endpoint, got %q", p.Name, name)
			}
		}
	}
}

// compileChains makes every chain and gives each form to the one that makes it.
func (e *Endpoint) compileChains(s *endpointSpec, of kinds.Endpoint, env *upstreams.Environment, problems *declare.Problems) {
	specs := map[string]chainSpec{MainChain: {Sources: s.Sources}}
	maps.Copy(specs, s.Chains)
	demands, jsonChain := s.compileDemands(e.Fields, problems), s.jsonChain()
	seen := map[string]bool{}
	for _, name := range chainOrder(specs) {
		sources := s.chainSources(name, specs, problems)
		for _, src := range specs[name].Sources {
			if seen[src.Name.Value] {
				problems.Add(src.Name.Line, "source %q: declared twice in this endpoint", src.Name.Value)
			}
			seen[src.Name.Value] = true
		}
		c := &Chain{Name: name}
		for i, f := range e.Forms {
			if s.formChain(i) == name {
				f.Chain, f.Index = c, len(c.Forms)
				if f.Kind == "json" {
					f.fields = e.Fields
				}
				c.Forms = append(c.Forms, f)
				if f.English != nil {
					f.English.Chain, f.English.Index = c, len(c.Forms)
					c.Forms = append(c.Forms, f.English)
				}
			}
		}
		e.joinPictureProxy(s, c)
		if len(c.Forms) == 0 {
			problems.Add(s.Name.Line, "chain %s: no form uses it", name)
		}
		c.Chain = e.compileChain(name, sources, of, env, problems)
		switch {
		case c.JSON() != nil:
			c.SetDemands(demands, 0)
		case specs[name].Like != "" && specs[name].Like == jsonChain:
			c.SetDemands(demands, len(specs[name].Sources))
		}
		e.Chains = append(e.Chains, c)
	}
	for i, f := range e.Forms {
		if f.Chain == nil && len(s.Forms) > 0 {
			problems.Add(s.Forms[i].Name.Line, "form %s: chain: expected main or a name below chains:, got %q", f.Name, s.formChain(i))
		}
	}
}

// chainOrder lists main, then the others by name.
func chainOrder(specs map[string]chainSpec) []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(n string) bool { return n == MainChain })
	return append([]string{MainChain}, names...)
}

// jsonChain is the chain whose data are answered as JSON; "": none is.
func (s *endpointSpec) jsonChain() string {
	if i := slices.IndexFunc(s.Forms, func(f formSpec) bool { return f.JSON != nil }); i >= 0 {
		return s.formChain(i)
	}
	return ""
}

func (s *endpointSpec) formChain(i int) string {
	if i < len(s.Forms) && s.Forms[i].Chain != "" {
		return s.Forms[i].Chain
	}
	return MainChain
}

// chainSources are a chain's own, or another's with a picture to fetch after.
func (s *endpointSpec) chainSources(name string, specs map[string]chainSpec, problems *declare.Problems) []kinds.SourceSpec {
	c := specs[name]
	if c.Like == "" {
		return c.Sources
	}
	other, ok := specs[c.Like]
	if !ok || other.Like != "" || (c.Picture == nil) == (c.Draw == "") {
		problems.Add(s.Name.Line, "chain %s: like: expected a chain with sources of its own, beside a picture: or draw:, got %q", name, c.Like)
		return nil
	}
	out := slices.Clone(c.Sources)
	for _, src := range other.Sources {
		src.Picture, src.Draw = c.Picture, c.Draw
		out = append(out, src)
	}
	return out
}

func (e *Endpoint) compileChain(name string, specs []kinds.SourceSpec, of kinds.Endpoint, env *upstreams.Environment, problems *declare.Problems) *upstreams.Chain {
	if len(specs) == 0 {
		problems.Add(0, "chain %s: no sources", name)
	}
	negative := e.mayBeNegative(name)
	checkVerdicts(specs, negative, problems)
	checkLastResorts(specs, problems)
	var sources []*upstreams.Source
	for i := range specs {
		src := kinds.Compile(of, &specs[i], env, problems)
		sources = append(sources, src)
		if src != nil && src.Limit > 0 {
			if e.Policy.Limits == nil {
				e.Policy.Limits = map[string]time.Duration{}
			}
			e.Policy.Limits[src.Name] = src.Limit
		}
	}
	return upstreams.NewChain(e.Name, sources, negative, env)
}

// mayBeNegative reports whether a negative answer can be due to the caller's
// input. A value of a short list cannot be at fault, nor can what no caller
// gives, such as the link that was picked from a pool.
func (e *Endpoint) mayBeNegative(chain string) bool {
	for _, f := range e.Forms {
		if f.PictureProxy != nil && f.PictureProxy.form.Chain.Name == chain {
			return false
		}
	}
	return slices.ContainsFunc(e.Params, (*Param).canBeAtFault)
}

// canBeAtFault reports whether a caller gives it, and not out of a short list.
func (p *Param) canBeAtFault() bool {
	return p.Role == RoleInput && !p.Derived() && len(p.Spec.Enum) == 0
}

// checkVerdicts refuses negative verdicts where no input of the caller's can be
// at fault: there, what a source does not have is its own failure.
func checkVerdicts(specs []kinds.SourceSpec, negative bool, problems *declare.Problems) {
	if negative {
		return
	}
	for i := range specs {
		src := &specs[i]
		rules := slices.Clone(src.Judge)
		for _, step := range src.Before {
			rules = append(rules, step.Judge...)
		}
		for _, r := range rules {
			if r.Is.Value == upstreams.Negative.String() {
				problems.Add(r.Is.Line, "source %q: is: negative: this endpoint has no input that could be at fault; expected unavailable, or skipped if the host is not to blame", src.Name.Value)
			}
		}
		if src.Negative != "" {
			problems.Add(src.Name.Line, "source %q: negative: %s: this endpoint has no input that could be at fault, so no answer is negative; remove the line", src.Name.Value, src.Negative)
		}
	}
}

// checkLastResorts refuses sources behind a last resort.
func checkLastResorts(specs []kinds.SourceSpec, problems *declare.Problems) {
	last := false
	for i := range specs {
		src := &specs[i]
		if last && !src.LastResort {
			problems.Add(src.Name.Line, "source %q: follows a last_resort source; expected those at the end", src.Name.Value)
		}
		last = last || src.LastResort
	}
}
