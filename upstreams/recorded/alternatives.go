package recorded

import (
	"context"
	"slices"
)

// Relate finds, for each source that works, the others of its chain that would have
// answered its call: without them, what it answers depends on it alone. The findings
// are those of the subjects, in the same order.
func Relate(ctx context.Context, subjects []Subject, findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Health != Works {
			continue
		}
		for j := range findings {
			other := &findings[j]
			if i != j && other.Endpoint == f.Endpoint && other.Chain == f.Chain && other.Health == Works && subjects[j].wouldAnswer(ctx, f) {
				f.Alternatives = append(f.Alternatives, other.Source)
			}
		}
	}
}

// wouldAnswer reports whether a source that works serves the call of a finding. A
// local source is asked: it may have data of some inputs alone.
func (s *Subject) wouldAnswer(ctx context.Context, f *Finding) bool {
	if s.Source.Remote() {
		return s.Source.Serves(ctx, f.Call)
	}
	_, err := s.Source.Probe(ctx, f.Call, nil)
	return err == nil
}

// Prospect is what would become of an endpoint if one of its sources failed.
type Prospect struct {
	Endpoint string
	// Sources, and how many of them work.
	Sources, Working int
	// Remote says that a source of it calls somebody.
	Remote bool
	// DependsOn are the sources that work, call somebody, and have no alternative.
	DependsOn []string
}

// Prospects are those of the endpoints of findings that were related: those in need
// first, and else in the order of the findings.
func Prospects(subjects []Subject, findings []Finding) []Prospect {
	var out []Prospect
	for i, f := range findings {
		if len(out) == 0 || out[len(out)-1].Endpoint != f.Endpoint {
			out = append(out, Prospect{Endpoint: f.Endpoint})
		}
		p, remote := &out[len(out)-1], subjects[i].Source.Remote()
		p.Sources++
		p.Remote = p.Remote || remote
		if f.Health != Works {
			continue
		}
		if p.Working++; remote && len(f.Alternatives) == 0 && !slices.Contains(p.DependsOn, f.Source) {
			p.DependsOn = append(p.DependsOn, f.Source)
		}
	}
	slices.SortStableFunc(out, func(a, b Prospect) int { return a.need() - b.need() })
	return out
}

// need is 0 for an endpoint that does not work, 1 for one that depends on a source.
func (p *Prospect) need() int {
	switch {
	case p.Working == 0:
		return 0
	case len(p.DependsOn) > 0:
		return 1
	}
	return 2
}
