package recorded

import (
	"context"
	"slices"

	"sundry/upstreams"
)

// Relate finds, for each source that works, the others of its chain that would have
// answered its call: without them, what it answers depends on it alone. A last resort is
// none of them. It also finds the local sources that stand in for remote ones. The
// findings are those of the subjects, in the same order.
func Relate(ctx context.Context, subjects []Subject, findings []Finding) {
	for i := range findings {
		f := &findings[i]
		if f.Health != Works {
			continue
		}
		f.standsIn = subjects[i].standsIn(ctx, subjects, findings)
		for j := range findings {
			other := &findings[j]
			if i != j && !subjects[j].Source.LastResort && other.Endpoint == f.Endpoint && other.Chain == f.Chain && other.Health == Works && subjects[j].wouldAnswer(ctx, f) {
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

// standsIn reports whether a local source that works answers what remote ones of its chain
// are called for, rather than inputs that none of them knows. Where no call of theirs is
// known, for lack of keys, it does.
func (s *Subject) standsIn(ctx context.Context, subjects []Subject, findings []Finding) bool {
	if s.Source.Remote() || s.Source.LastResort {
		return false
	}
	remote, called := false, false
	for i := range subjects {
		other := &subjects[i]
		if other.endpoint != s.endpoint || other.chain != s.chain || !other.Source.Remote() {
			continue
		}
		if remote = true; findings[i].Call == nil {
			continue
		}
		if called = true; s.wouldAnswer(ctx, &findings[i]) {
			return true
		}
	}
	return remote && !called
}

// Prospect is what would become of an endpoint if one of its sources failed.
type Prospect struct {
	Endpoint string
	// Sources, and how many of them work: those that call somebody or, where none does,
	// all. Last resorts are not counted.
	Sources, Working int
	// Remote says that a source of it, which is no last resort, calls somebody.
	Remote bool
	// DependsOn are the sources that work, call somebody, and have no alternative.
	DependsOn []string
	// StandIns are the local sources that work and answer what remote ones are called for.
	StandIns []string
	// Others are those that work and are not counted, without the stand-ins: last
	// resorts, and local sources of other inputs or forms. LastResorts are among them.
	Others, LastResorts []string
}

// Served reports whether the endpoint has a working source: one that calls somebody, or
// a local one that answers the same, or any where all are local by design.
func (p *Prospect) Served() bool { return p.Working > 0 || len(p.StandIns) > 0 }

// Prospects are those of the endpoints of findings that were related: those in need
// first, and else in the order of the findings.
func Prospects(subjects []Subject, findings []Finding) []Prospect {
	remote := map[string]bool{}
	for i := range subjects {
		if s := subjects[i].Source; s.Remote() && !s.LastResort {
			remote[findings[i].Endpoint] = true
		}
	}
	var out []Prospect
	for i := range findings {
		f := &findings[i]
		if len(out) == 0 || out[len(out)-1].Endpoint != f.Endpoint {
			out = append(out, Prospect{Endpoint: f.Endpoint, Remote: remote[f.Endpoint]})
		}
		out[len(out)-1].add(subjects[i].Source, f)
	}
	slices.SortStableFunc(out, func(a, b Prospect) int { return a.need() - b.need() })
	return out
}

// add counts a source.
func (p *Prospect) add(s *upstreams.Source, f *Finding) {
	counted, works := !s.LastResort && s.Remote() == p.Remote, f.Health == Works
	if counted {
		p.Sources++
	}
	switch {
	case !works:
	case !counted && f.standsIn:
		p.StandIns = append(p.StandIns, f.Source)
	case !counted:
		p.Others = append(p.Others, f.Source)
		if s.LastResort {
			p.LastResorts = append(p.LastResorts, f.Source)
		}
	default:
		if p.Working++; p.Remote && len(f.Alternatives) == 0 && !slices.Contains(p.DependsOn, f.Source) {
			p.DependsOn = append(p.DependsOn, f.Source)
		}
	}
}

// need is 0 for an endpoint that does not work, 1 for one that depends on a source.
func (p *Prospect) need() int {
	switch {
	case !p.Served():
		return 0
	case len(p.DependsOn) > 0:
		return 1
	}
	return 2
}
