package catalog

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/cache/policy"
	"sundry/metrics/words"
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

// ParseBounds reads two durations with two dots between them; nil for off.
func ParseBounds(text string) (*Bounds, error) {
	if text == autopilotOff {
		return nil, nil
	}
	low, high, _ := strings.Cut(text, "..")
	least, err1 := declare.ParseDuration(low)
	most, err2 := declare.ParseDuration(high)
	if err1 != nil || err2 != nil || least < minLiveTTL || most > maxLive || least > most {
		return nil, words.Errorf("autopilot: %q: expected off, or the shortest and the longest ttl, such as 1h..48h", "autopilot：不能是%q，应为 off，或最短与最长的 ttl，例如 1h..48h", text)
	}
	return &Bounds{least, most}, nil
}

const autopilotOff = "off"

// noAutopilot says why there is no ttl to set; nil: there is one.
func noAutopilot(p *policy.Policy) error {
	switch {
	case p.Until != nil:
		return words.Errorf("autopilot: the timetable (until) decides how long answers are fresh, there is no ttl to set", "autopilot：响应的保鲜期由发布时刻（until）决定，没有可设的 ttl")
	case !p.Stores():
		return words.Errorf("autopilot: answers are not cached", "autopilot：响应不缓存")
	case p.Class == policy.Computed:
		return words.Errorf("autopilot: answers are computed locally (class: computed): there are no calls to save", "autopilot：响应在本地计算（class: computed），没有可节省的调用")
	}
	return nil
}

// pilot are the bounds that operators have set while the service runs, or those of their
// file. What is stored and does not fit any more is ignored.
func (e *Endpoint) pilot(n *yaml.Node, live string, problems *declare.Problems) *Bounds {
	if live != "" && noAutopilot(&e.Base) == nil {
		if b, err := ParseBounds(live); err == nil {
			return b
		}
	}
	if n.IsZero() {
		return nil
	}
	return autopilot(n, &e.Base, problems)
}

// autopilot reads the bounds of the autopilot, for a rule as the files have it. Mistakes
// are in the lines of the operator's file; then it returns nil.
func autopilot(n *yaml.Node, base *policy.Policy, problems *declare.Problems) *Bounds {
	var s autopilotSpec
	before := len(*problems)
	if declare.Load(n, &s, problems); len(*problems) > before {
		return nil
	}
	b := &Bounds{time.Duration(s.Min), time.Duration(s.Max)}
	wrong := func(format string, args ...any) { problems.Add(n.Line, "autopilot: "+format, args...) }
	if err := noAutopilot(base); err != nil {
		problems.Add(n.Line, "%v", err)
		return nil
	}
	switch {
	case b.Min < minLiveTTL || b.Max > maxLive || b.Min > b.Max:
		wrong("expected a min of at least %s and a max that is not below it and at most %s, got %s and %s", minLiveTTL, maxLive, b.Min, b.Max)
	case base.TTL < b.Min || base.TTL > b.Max:
		wrong("the ttl is %s: expected it to be from min (%s) to max (%s)", base.TTL, b.Min, b.Max)
	default:
		return b
	}
	return nil
}
