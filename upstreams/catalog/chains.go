package catalog

import (
	"maps"
	"slices"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// compileChains makes every chain and gives each form to the one that makes it.
func (e *Endpoint) compileChains(s *endpointSpec, env *upstreams.Environment, problems *declare.Problems) {
	specs := map[string]chainSpec{MainChain: {Sources: s.Sources}}
	maps.Copy(specs, s.Chains)
	seen := map[string]bool{}
	for _, name := range chainOrder(specs) {
		sources := s.chainSources(name, specs, problems)
		if specs[name].Like == "" {
			for _, src := range sources {
				if seen[src.Name.Value] {
					problems.Add(src.Name.Line, "source %q: twice in this file", src.Name.Value)
				}
				seen[src.Name.Value] = true
			}
		}
		c := &Chain{Name: name}
		for i, f := range e.Forms {
			if want := s.formChain(i); want == name {
				f.Chain, f.index = c, len(c.Forms)
				c.Forms = append(c.Forms, f)
			}
		}
		e.joinThrough(s, c)
		if len(c.Forms) == 0 {
			problems.Add(s.Name.Line, "chain %s: no form uses it", name)
		}
		c.Chain = e.compileChain(name, sources, env, problems)
		e.Chains = append(e.Chains, c)
	}
	for i, f := range e.Forms {
		if f.Chain == nil && len(s.Forms) > 0 {
			problems.Add(s.Forms[i].Name.Line, "form %s: no chain %q", f.Name, s.formChain(i))
		}
	}
}

// chainOrder lists main, then the others by name.
func chainOrder(specs map[string]chainSpec) []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(n string) bool { return n == MainChain })
	return append([]string{MainChain}, names...)
}

func (s *endpointSpec) formChain(i int) string {
	if i < len(s.Forms) && s.Forms[i].Chain != "" {
		return s.Forms[i].Chain
	}
	return MainChain
}

// chainSources are a chain's own, or another's with a picture to fetch after.
func (s *endpointSpec) chainSources(name string, specs map[string]chainSpec, problems *declare.Problems) []upstreams.SourceSpec {
	c := specs[name]
	if c.Like == "" {
		return c.Sources
	}
	other, ok := specs[c.Like]
	if !ok || other.Like != "" || len(c.Sources) > 0 || c.Picture == nil {
		problems.Add(s.Name.Line, "chain %s: like: %q: want a chain with sources of its own, and picture as the one step further", name, c.Like)
		return nil
	}
	var out []upstreams.SourceSpec
	for _, src := range other.Sources {
		src.Picture = c.Picture
		out = append(out, src)
	}
	return out
}

func (e *Endpoint) compileChain(name string, specs []upstreams.SourceSpec, env *upstreams.Environment, problems *declare.Problems) *upstreams.Chain {
	if len(specs) == 0 {
		problems.Add(0, "chain %s: no sources", name)
	}
	refuses := e.refuses(name)
	checkVerdicts(specs, refuses, problems)
	checkLastResorts(specs, problems)
	var params []string
	for _, p := range e.Params {
		if p.Role == RoleInput {
			params = append(params, p.Name)
		}
	}
	var sources []*upstreams.Source
	for i := range specs {
		src := upstreams.Compile(e.Name, &specs[i], params, env, problems)
		sources = append(sources, src)
		if src != nil && src.Limit > 0 {
			if e.Policy.Limits == nil {
				e.Policy.Limits = map[string]time.Duration{}
			}
			e.Policy.Limits[src.Name] = src.Limit
		}
	}
	return upstreams.NewChain(e.Name, sources, refuses, env)
}
