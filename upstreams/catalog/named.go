package catalog

import (
	"cmp"
	"maps"
	"slices"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/kinds"
)

// named are the steps and rules that the sources of an endpoint can name.
type named struct {
	steps    map[string]*httpsource.StepSpec
	rules    map[string]*upstreams.RuleSpec
	used     map[string]bool // as in "step link"
	problems *declare.Problems
}

// resolveNames applies the defaults, and puts what names stand for in their place.
func (s *endpointSpec) resolveNames(shared []*sharedPart, problems *declare.Problems) {
	n := &named{map[string]*httpsource.StepSpec{}, map[string]*upstreams.RuleSpec{}, map[string]bool{}, problems}
	for _, part := range shared {
		n.add(part.Steps, part.Rules)
	}
	n.add(s.Steps, s.Rules)
	n.resolveAll(s.Sources, s.Defaults)
	chains := map[string]chainSpec{}
	for name, chain := range s.Chains {
		chain.Sources = slices.Clone(chain.Sources)
		n.resolveAll(chain.Sources, s.Defaults)
		chains[name] = chain
	}
	s.Chains = chains
	n.unused(s.Steps, s.Rules)
}

// add declares steps and rules.
func (n *named) add(steps []httpsource.StepSpec, rules []upstreams.RuleSpec) {
	for i := range steps {
		name := steps[i].Name
		if n.steps[name.Value] != nil {
			n.problems.Add(name.Line, "steps: %s: declared twice", name.Value)
		}
		n.steps[name.Value] = &steps[i]
	}
	for i := range rules {
		name := rules[i].Name
		if name.Value == "" {
			n.problems.Add(rules[i].Is.Line, "rules: expected a name, for example {name: gone, status: [404], is: negative}")
		}
		if n.rules[name.Value] != nil {
			n.problems.Add(name.Line, "rules: %s: declared twice", name.Value)
		}
		n.rules[name.Value] = &rules[i]
	}
}

func (n *named) resolveAll(sources []kinds.SourceSpec, defaults *defaultsSpec) {
	for i := range sources {
		src := &sources[i]
		defaults.apply(src)
		src.Judge = n.judge(src.Judge)
		before := src.Before[:0:0]
		for _, step := range src.Before {
			if step.HTTP == nil && step.Share == nil {
				found := n.step(step.Name)
				if found == nil {
					continue
				}
				step = *found
			}
			step.Judge = n.judge(step.Judge)
			before = append(before, step)
		}
		src.Before = before
	}
}

// step finds a step by its name; nil: there is none.
func (n *named) step(name declare.Text) *httpsource.StepSpec {
	n.used["step "+name.Value] = true
	found := n.steps[name.Value]
	if found == nil {
		n.problems.Add(name.Line, "before: %s: expected a step with a request (http or share), or the name of one under steps%s", name.Value, expected(name.Value, n.steps))
	}
	return found
}

// judge are the rules with what names stand for.
func (n *named) judge(rules declare.Named[upstreams.RuleSpec]) declare.Named[upstreams.RuleSpec] {
	out := rules[:0:0]
	for _, rule := range rules {
		if rule.If == nil && rule.Status == nil && rule.Name.Value != "" {
			n.used["rule "+rule.Name.Value] = true
			found := n.rules[rule.Name.Value]
			if found == nil {
				n.problems.Add(rule.Name.Line, "judge: %s: expected a rule with a condition, or the name of one under rules%s", rule.Name.Value, expected(rule.Name.Value, n.rules))
				continue
			}
			rule = *found
		}
		out = append(out, rule)
	}
	return out
}

// expected adds the names that there are.
func expected[T any](name string, all map[string]T) (hint words.Text) {
	if len(all) == 0 {
		return hint
	}
	return declare.Expected(name, slices.Sorted(maps.Keys(all)))
}

// unused reports what no source names. Shared files may have more than an endpoint needs.
func (n *named) unused(steps []httpsource.StepSpec, rules []upstreams.RuleSpec) {
	for i := range steps {
		if name := steps[i].Name; !n.used["step "+name.Value] {
			n.problems.Add(name.Line, "steps: %s: no source names it; expected its name below before, for example before: [%s]", name.Value, name.Value)
		}
	}
	for i := range rules {
		if name := rules[i].Name; !n.used["rule "+name.Value] {
			n.problems.Add(name.Line, "rules: %s: no judge names it; expected its name below judge, for example judge: [%s]", name.Value, name.Value)
		}
	}
}

// apply gives a source what it does not declare.
func (d *defaultsSpec) apply(src *kinds.SourceSpec) {
	if d == nil {
		return
	}
	src.TTL = cmp.Or(src.TTL, d.TTL)
	src.Timeout = cmp.Or(src.Timeout, d.Timeout)
	src.Expires = cmp.Or(src.Expires, d.Expires)
	if src.Before == nil {
		src.Before = d.Before
	}
	if src.Vars == nil {
		src.Vars = d.Vars
	}
}
