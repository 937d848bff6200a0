package catalog

import (
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// MainChain is made of the file's sources.
const MainChain = "main"

// compile checks the file as a whole and makes an endpoint of it.
func compile(name string, s *endpointSpec, env *upstreams.Environment, problems *declare.Problems) *Endpoint {
	e := &Endpoint{
		Name: name, Group: s.Group.Value, EN: s.Summary.EN, ZH: s.Summary.ZH,
		Policy: s.Cache.policy(problems), Warm: s.Cache.Warm, env: env,
	}
	s.checkHead(name, problems)
	e.compileForms(s, problems)
	e.compileParams(s, problems)
	e.compileChains(s, env, problems)
	if s.Cache.Edition != nil {
		e.edition = jq.Compile(s.Cache.Edition, problems)
	}
	if s.Cache.Fresh != nil {
		e.fresh = jq.Compile(s.Cache.Fresh, problems)
	}
	if s.NotFound != nil {
		e.notFound = jq.Compile(s.NotFound, problems)
	}
	if e.Warm && slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Required || p.Caller }) {
		problems.Add(s.Name.Line, "cache: warm: only an endpoint that needs no input can be filled ahead")
	}
	return e
}

func (s *endpointSpec) checkHead(name string, problems *declare.Problems) {
	if s.Version != grammar {
		problems.Add(1, "version: %d: this program reads version %d", s.Version, grammar)
	}
	if !endpointName.MatchString(name) {
		problems.Add(0, "file name %q: want small letters, digits and -", name)
	}
	if s.Name.Value != name {
		problems.Add(s.Name.Line, "name: %q: want the file's name, %q", s.Name.Value, name)
	}
	if groups := groupNames(); !slices.Contains(groups, s.Group.Value) {
		problems.Add(s.Group.Line, "group: %q: want one of %s", s.Group.Value, strings.Join(groups, ", "))
	}
	if s.Summary.EN == "" || s.Summary.ZH == "" {
		problems.Add(s.Name.Line, "summary: want both en and zh")
	}
}

func (e *Endpoint) compileForms(s *endpointSpec, problems *declare.Problems) {
	if len(s.Forms) == 0 {
		problems.Add(s.Name.Line, "forms: none; want at least one")
		e.Forms = []*Form{{}}
		return
	}
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		problems.Add(0, "zstd: %v", err)
	}
	for i := range s.Forms {
		f := compileForm(&s.Forms[i], problems)
		f.zstd = packer
		if slices.ContainsFunc(e.Forms, func(o *Form) bool { return o.Name == f.Name }) {
			problems.Add(s.Forms[i].Name.Line, "form %q: twice", f.Name)
		}
		e.Forms = append(e.Forms, f)
	}
}

func (e *Endpoint) compileParams(s *endpointSpec, problems *declare.Problems) {
	if len(s.Params) > maxParams {
		problems.Add(s.Name.Line, "params: %d; want at most %d", len(s.Params), maxParams)
	}
	for _, ps := range s.Params {
		if slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Name == ps.Name.Value }) {
			problems.Add(ps.Name.Line, "param %s: twice", ps.Name.Value)
		}
		p := compileParam(ps, e.FormNames(), problems)
		if ps.Rest {
			e.rest = p
		}
		e.Params = append(e.Params, p)
	}
	for _, p := range e.Params {
		if name := p.Spec.StandsFor; name != "" {
			p.target = slices.IndexFunc(e.Params, func(o *Param) bool { return o.Name == name && o.Role == RoleInput && o != p })
			if p.target < 0 {
				problems.Add(p.Spec.Name.Line, "param %s: stands_for: %q: want another input of this endpoint", p.Name, name)
			}
		}
	}
}
