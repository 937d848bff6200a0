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

// inputs are the names in $params: those of the inputs, and link where pictures are fetched
// that a form leads to.
func (s *endpointSpec) inputs() []string {
	var names []string
	for i := range s.Params {
		if s.Params[i].Role == RoleInput {
			names = append(names, s.Params[i].Name.Value)
		}
	}
	for i := range s.Forms {
		if s.Forms[i].Through != nil {
			return append(names, "link")
		}
	}
	return names
}

// checkNames reports what the programs of the endpoint itself read of $params, $vars and
// $secrets and is never there.
func (s *endpointSpec) checkNames(defs *jq.Defs, problems *declare.Problems) {
	scope := jq.NewScope(s.inputs(), nil, defs)
	programs := []*declare.Expr{s.Cache.Edition, s.Cache.Fresh, s.Serves}
	if s.NotFound != nil {
		programs = append(programs, s.NotFound.EN, s.NotFound.ZH)
	}
	for i := range s.Forms {
		programs = append(programs, s.Forms[i].Each)
		for _, c := range s.Forms[i].contents() {
			programs = append(programs, c.program)
		}
	}
	for _, e := range programs {
		scope.Check(e, jq.Presenting, problems)
	}
}

// checkTimeouts reports sources that may take longer than a whole fill.
func (s *endpointSpec) checkTimeouts(hints *declare.Problems) {
	most := s.Cache.policy(&declare.Problems{}).FillTimeout
	sources := s.allSources()
	for i := range sources {
		src := &sources[i]
		if d := time.Duration(src.Timeout); d > most {
			hints.Add(src.Name.Line, "source %q: timeout: expected at most that of a fill, %s, got %s; a longer one goes with cache: {fill_timeout: %s}", src.Name.Value, most, d, d)
		}
	}
}

// checkAsked reports sources whose turn never comes: behind one that always answers, or
// after a negative answer where none before them can say so.
func (s *endpointSpec) checkAsked(e *Endpoint, hints *declare.Problems) {
	check := func(chain string, specs []kinds.SourceSpec) {
		for i := range specs {
			src := &specs[i]
			switch {
			case i > 0 && specs[i-1].AlwaysAnswers():
				hints.Add(src.Name.Line, "source %q: it is never asked, because %q before it always answers; expected that one at the end, or with a condition, for example when: $params.id == null", src.Name.Value, specs[i-1].Name.Value)
			case src.After == upstreams.AfterNegative && (!e.mayBeNegative(chain) || !slices.ContainsFunc(specs[:i], kinds.SourceSpec.MayBeNegative)):
				hints.Add(src.Name.Line, "source %q: after: negative: it is never asked, because no source before it can say no; expected a rule there, for example judge: [{status: [404], is: negative}], or after: failure", src.Name.Value)
			}
		}
	}
	check(MainChain, s.Sources)
	for _, name := range slices.Sorted(maps.Keys(s.Chains)) {
		check(name, s.Chains[name].Sources)
	}
}
