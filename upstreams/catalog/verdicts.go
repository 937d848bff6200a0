package catalog

import (
	"slices"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// refuses tells whether a chain may end in a definite no: only where an input
// of the caller's can be at fault. A value of a short list cannot, nor can what
// no caller gives, such as the link that was picked from a pool.
func (e *Endpoint) refuses(chain string) bool {
	for _, f := range e.Forms {
		if f.Through != nil && f.Through.form.Chain.Name == chain {
			return false
		}
	}
	return slices.ContainsFunc(e.Params, func(p *Param) bool {
		return p.Role == RoleInput && !p.Hidden() && len(p.Spec.Enum) == 0
	})
}

// checkVerdicts refuses definite noes where nothing of the caller's can be at
// fault: there, what a source does not have is its own failure.
func checkVerdicts(specs []upstreams.SourceSpec, refuses bool, problems *declare.Problems) {
	if refuses {
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
				problems.Add(r.Is.Line, "source %q: is: negative: this endpoint takes no input that could be at fault; want unavailable, or skipped where its host is not to blame", src.Name.Value)
			}
		}
		if src.Negative != "" {
			problems.Add(src.Name.Line, "source %q: negative: %s: this endpoint takes no input that could be at fault, so nobody says no", src.Name.Value, src.Negative)
		}
	}
}

// checkLastResorts wants them behind all others.
func checkLastResorts(specs []upstreams.SourceSpec, problems *declare.Problems) {
	last := false
	for i := range specs {
		src := &specs[i]
		if last && !src.LastResort {
			problems.Add(src.Name.Line, "source %q: behind a last resort; want the last resorts at the end", src.Name.Value)
		}
		last = last || src.LastResort
	}
}
