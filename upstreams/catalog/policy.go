package catalog

import (
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/cache"
	"sundry/upstreams/declare"
)

// policy compiles the cache rule, over which the operator's settings are laid.
func (s *cacheSpec) policy(problems *declare.Problems) cache.Policy {
	d := func(v declare.Duration, otherwise time.Duration) time.Duration {
		if v == 0 {
			return otherwise
		}
		return time.Duration(v)
	}
	p := cache.Policy{
		TTL: time.Duration(s.TTL), Grace: time.Duration(s.Grace), StaleIfError: time.Duration(s.StaleIfError),
		Negative: time.Duration(s.Negative), Poll: d(s.Poll, cache.DefaultPoll),
		SoftTimeout: d(s.SoftTimeout, cache.DefaultSoftTimeout), FillTimeout: d(s.FillTimeout, cache.DefaultFillTimeout),
		Pause: d(s.Pause, cache.DefaultPause), PauseMax: d(s.PauseMax, cache.DefaultPauseMax),
		Jitter: share(s.Jitter, cache.DefaultJitter, "jitter", s.Class.Line, problems),
		Eager:  share(s.Eager, cache.DefaultEager, "eager", s.Class.Line, problems),
		Local:  s.Local,
	}
	if s.Off {
		p.TTL = 0
	}
	switch s.Class.Value {
	case "shared":
		p.Class = cache.Shared
	case "keyed":
		p.Class = cache.Keyed
	case "computed":
		p.Class = cache.Computed
	default:
		problems.Add(s.Class.Line, "cache: class: %q: want shared (few keys that everyone asks for), keyed (keys of callers' input) or computed (made here in a moment)", s.Class.Value)
	}
	if s.Until.Value != "" {
		until, err := cache.ParseCalendar(s.Until.Value)
		if err != nil {
			problems.Add(s.Until.Line, "cache: until: %v", err)
		}
		p.Until = until
	}
	return p
}

func share(v *float64, otherwise float64, name string, line int, problems *declare.Problems) float64 {
	if v == nil {
		return otherwise
	}
	if *v < 0 || *v > 0.5 {
		problems.Add(line, "cache: %s: %v: want a share from 0 to 0.5", name, *v)
	}
	return *v
}

// override lays the operator's settings over the file's. Lines are those of
// the operator's file, so its mistakes are reported apart.
func (s *cacheSpec) override(n *yaml.Node, problems *declare.Problems) {
	if err := n.Load(s, yaml.WithKnownFields()); err != nil {
		addYAML(err, problems)
	}
}
