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
