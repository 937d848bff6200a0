package catalog

import (
	"slices"

	"sundry/cache/advise"
	"sundry/upstreams/declare"
)

// poolCalls are the upstream calls an hour that a pool may take where no target is
// declared: each refresh brings something else, so nothing of it is ever old.
const poolCalls = 4

// target is the one that operators have set while the service runs, or the declared one, or
// that of its kind.
func (e *Endpoint) target(s *targetSpec, live string, problems *declare.Problems) advise.Target {
	if t, err := advise.ParseTarget(live); err == nil {
		return t
	}
	if s != nil {
		return s.target(problems)
	}
	if slices.ContainsFunc(e.Forms, func(f *Form) bool { return f.Pool }) {
		return advise.Target{Calls: poolCalls}
	}
	return advise.Default()
}

func (s *targetSpec) target(problems *declare.Problems) advise.Target {
	name, value := "old", s.Old
	switch {
	case s.Old.Line > 0 && s.Calls.Line > 0:
		problems.Add(s.Calls.Line, "cache: target: expected old or calls, not both")
		return advise.Target{}
	case s.Calls.Line > 0:
		name, value = "calls", s.Calls
	}
	t, err := advise.TargetOf(name, value.Value)
	if err != nil {
		problems.Add(value.Line, "cache: target: %s: %q: expected {old: 2%%} or {calls: 100/h}", name, value.Value)
	}
	return t
}
