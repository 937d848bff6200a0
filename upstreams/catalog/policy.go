package catalog

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/cache/advise"
	"sundry/cache/policy"
	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// policy compiles the cache rule.
func (s *cacheSpec) policy(problems *declare.Problems) policy.Policy {
	or := func(v declare.Duration, otherwise time.Duration) time.Duration {
		return cmp.Or(time.Duration(v), otherwise)
	}
	p := policy.Policy{
		TTL: time.Duration(s.TTL), Grace: time.Duration(s.Grace), StaleIfError: time.Duration(s.StaleIfError),
		Negative: time.Duration(s.Negative), Poll: or(s.Poll, policy.DefaultPoll),
		SoftTimeout: or(s.SoftTimeout, policy.DefaultSoftTimeout), FillTimeout: or(s.FillTimeout, policy.DefaultFillTimeout),
		Pause: or(s.Pause, policy.DefaultPause), PauseMax: or(s.PauseMax, policy.DefaultPauseMax),
		Jitter: policy.DefaultJitter, Eager: policy.DefaultEager,
		Local: s.Local,
	}
	if s.Jitter != nil {
		p.Jitter = *s.Jitter
	}
	if s.Eager != nil {
		p.Eager = *s.Eager
	}
	switch s.Class.Value {
	case "shared":
		p.Class = policy.Shared
	case "keyed":
		p.Class = policy.Keyed
	case "computed":
		p.Class = policy.Computed
	case "":
		problems.Add(s.Class.Line, "cache: class: expected shared (few keys that all callers ask for), keyed (keys from callers' input) or computed (keys from callers' input, answers computed here), got nothing")
	}
	if s.Until.Value != "" {
		until, err := policy.ParseCalendar(s.Until.Value)
		if err != nil {
			problems.Add(s.Until.Line, "cache: until: %v", err)
		}
		p.Until = until
	}
	if s.Off {
		p.TTL, p.Until = 0, nil
	}
	return p
}

// override overrides the file's cache rule with the operator's settings. Lines are
// those of the operator's file, so its mistakes are reported apart.
func (s *cacheSpec) override(n *yaml.Node, problems *declare.Problems) {
	declared := s.Target
	s.Target = nil // a target of calls replaces one of old answers
	if declare.Load(n, s, problems); s.Target == nil {
		s.Target = declared
	}
}

// SettingNames are the cache settings that can be changed while the service runs,
// in the order in which they are shown.
func SettingNames() []string {
	return []string{"ttl", "grace", "stale_if_error", "negative", "poll", "soft_timeout"}
}

// Setting reads a cache setting of a policy by its name.
func Setting(p *policy.Policy, name string) time.Duration {
	return map[string]time.Duration{
		"ttl": p.TTL, "grace": p.Grace, "stale_if_error": p.StaleIfError,
		"negative": p.Negative, "poll": p.Poll, "soft_timeout": p.SoftTimeout,
	}[name]
}

// Settings of the ttl that are no part of the policy.
const (
	settingTarget    = "target"
	settingAutopilot = "autopilot"
)

// LiveNames are all settings that can be changed while the service runs.
func LiveNames() []string { return append(SettingNames(), settingTarget, settingAutopilot) }

// Bounds of settings that are changed while the service runs.
const (
	minLiveTTL = time.Second
	maxLive    = 366 * 24 * time.Hour
)

// CheckLive is CheckSettings for an endpoint, which may have no ttl to set.
func (e *Endpoint) CheckLive(settings map[string]string) error {
	if err := CheckSettings(settings); err != nil {
		return err
	}
	if text := settings[settingAutopilot]; text != "" && text != autopilotOff {
		return noAutopilot(&e.Base)
	}
	return nil
}

// CheckSettings refuses settings that cannot be changed while the service runs. A
// ttl of zero would turn the cache off, which only the file can do.
func CheckSettings(settings map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if err := checkSetting(name, settings[name]); err != nil {
			return err
		}
	}
	return nil
}

func checkSetting(name, text string) error {
	switch {
	case name == settingTarget:
		if _, err := advise.ParseTarget(text); err != nil {
			return words.Errorf("target: %q: expected old=2%% (at most so many old answers) or calls=100/h (at most so many upstream calls an hour)", "target：不能是%q，应为 old=2%%（旧响应至多这么多）或 calls=100/h（每小时上游调用至多这么多次）", text)
		}
		return nil
	case name == settingAutopilot:
		_, err := ParseBounds(text)
		return err
	case !slices.Contains(SettingNames(), name):
		return words.Errorf("%s: cannot be changed while the service runs; expected one of %s", "%s：运行中不能更改，应为以下之一：%s", name, words.Names(LiveNames()...))
	}
	d, err := declare.ParseDuration(text)
	if err != nil {
		return words.Errorf("%s: %q: expected a duration such as 90s, 6h or 30d", "%s：不能是%q，应为时长，例如 90s、6h 或 30d", name, text)
	}
	if name == "ttl" && d < minLiveTTL || d > maxLive {
		return words.Errorf("%s: expected %s to %dd, got %s", "%s：应在 %s 到 %dd 之间，而不是 %s", name, minLiveTTL, maxLive/(24*time.Hour), text)
	}
	return nil
}

// live overrides the cache rule with settings made while the service runs. Stored
// ones that are not valid any more are ignored.
func (s *cacheSpec) live(settings map[string]string, problems *declare.Problems) {
	if len(settings) == 0 || s.Off || CheckSettings(settings) != nil {
		return
	}
	rule := yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range SettingNames() {
		if text, ok := settings[name]; ok {
			rule.Content = append(rule.Content, scalar(name), scalar(text))
		}
	}
	s.override(&rule, problems)
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// leastFresh is the least of the seconds that a program of cache.fresh chooses from; 0 where one
// of its branches is more than a number or null.
func leastFresh(program *declare.Expr) (least time.Duration) {
	if program == nil {
		return 0
	}
	words := strings.Fields(program.Text)
	for i, word := range words {
		if word != "then" && word != "else" {
			continue
		}
		if i+2 >= len(words) || !slices.Contains([]string{"elif", "else", "end"}, words[i+2]) {
			return 0
		}
		seconds, err := strconv.Atoi(words[i+1])
		switch this := time.Duration(seconds) * time.Second; {
		case err == nil && (least == 0 || this < least):
			least = this
		case err != nil && words[i+1] != "null":
			return 0
		}
	}
	return least
}
