package catalog

import (
	"fmt"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/cache"
	"sundry/upstreams/declare"
)

// Bounds of a TTL, both included.
type Bounds struct{ Min, Max time.Duration }

// String is off for nil.
func (b *Bounds) String() string {
	if b == nil {
		return "off"
	}
	return fmt.Sprintf("from %s to %s", b.Min, b.Max)
}

// autopilot reads the bounds of the autopilot, for a rule as the files have it. Mistakes
// are in the lines of the operator's file; then it returns nil.
func autopilot(n *yaml.Node, base *cache.Policy, problems *declare.Problems) *Bounds {
	var s autopilotSpec
	before := len(*problems)
	if declare.Load(n, &s, problems); len(*problems) > before {
		return nil
	}
	b := &Bounds{time.Duration(s.Min), time.Duration(s.Max)}
	wrong := func(format string, args ...any) { problems.Add(n.Line, "autopilot: "+format, args...) }
	switch {
	case base.Until != nil:
		wrong("the timetable (until) decides how long answers are fresh, there is no ttl to set")
	case !base.Stores():
		wrong("answers are not cached")
	case base.Class == cache.Computed:
		wrong("answers are computed locally (class: computed): there are no calls to save")
	case b.Min < minLiveTTL || b.Max > maxLive || b.Min > b.Max:
		wrong("expected a min of at least %s and a max that is not below it and at most %s, got %s and %s", minLiveTTL, maxLive, b.Min, b.Max)
	case base.TTL < b.Min || base.TTL > b.Max:
		wrong("the ttl is %s: expected it to be from min (%s) to max (%s)", base.TTL, b.Min, b.Max)
	default:
		return b
	}
	return nil
}
