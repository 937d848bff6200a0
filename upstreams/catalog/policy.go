package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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
	declare.Decode(n, s, problems)
}

// Knobs of the cache rule that may be set while it runs, in the order in which
// they are shown.
func Knobs() []string {
	return []string{"ttl", "grace", "stale_if_error", "negative", "poll", "soft_timeout"}
}

// Knob reads a policy's knob by its name.
func Knob(p *cache.Policy, name string) time.Duration {
	return map[string]time.Duration{
		"ttl": p.TTL, "grace": p.Grace, "stale_if_error": p.StaleIfError,
		"negative": p.Negative, "poll": p.Poll, "soft_timeout": p.SoftTimeout,
	}[name]
}

// CheckKnobs refuses what may not be set while it runs. A ttl of nothing would
// turn the cache off: that is for the file.
func CheckKnobs(knobs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(knobs)) {
		if !slices.Contains(Knobs(), name) {
			return fmt.Errorf("%s: cannot be set while it runs; want one of %s", name, strings.Join(Knobs(), ", "))
		}
		d, err := declare.ParseDuration(knobs[name])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if least, most := time.Second, 366*24*time.Hour; name == "ttl" && d < least || d > most {
			return fmt.Errorf("%s: %s: want %s to %s", name, knobs[name], least, most)
		}
	}
	return nil
}

// live lays settings made while it runs over the rule. Those of another time
// that are wrong by now are passed over.
func (s *cacheSpec) live(knobs map[string]string, problems *declare.Problems) {
	if len(knobs) == 0 || s.Off || CheckKnobs(knobs) != nil {
		return
	}
	b, err := yaml.Dump(knobs)
	if err == nil {
		var n yaml.Node
		if err = yaml.Load(b, &n); err == nil {
			s.override(&n, problems)
			return
		}
	}
	problems.Add(0, "live settings: %v", err)
}
