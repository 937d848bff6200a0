package advise

import "time"

// View is an advice as JSON: that of the command and that of the admin API are the same.
type View struct {
	Endpoint string     `json:"endpoint"`
	Target   string     `json:"target"`
	Rules    []RuleView `json:"rules"` // by rising TTL
	// Advised is nil where no TTL meets the target, or too little is known.
	Advised  *float64 `json:"advised_ttl_seconds"`
	Reason   string   `json:"reason"`
	ReasonZH string   `json:"reason_zh"`
	Evidence Evidence `json:"evidence"`
	// Edition is nil where contents do not seem to change once a day, at a time.
	Edition *Edition `json:"edition"`
}

// RuleView is what one TTL leads to. The old share is null where nothing is known of changes.
type RuleView struct {
	TTL       float64  `json:"ttl_seconds"`
	Present   bool     `json:"present"`
	Older     *float64 `json:"older_ratio"`
	OlderLow  *float64 `json:"older_low"`
	OlderHigh *float64 `json:"older_high"`
	// AtMost: the old share may be as high as OlderHigh, because every refresh found a change.
	AtMost    bool    `json:"older_at_most,omitempty"`
	Calls     float64 `json:"calls_per_hour"`
	CallsLow  float64 `json:"calls_low"`
	CallsHigh float64 `json:"calls_high"`
}

// View of an advice about an endpoint whose TTL is the present one.
func (a *Advice) View(endpoint string, present time.Duration) View {
	v := View{
		Endpoint: endpoint, Target: a.Target.String(), Rules: []RuleView{}, Reason: a.Reason.EN(), ReasonZH: a.Reason.ZH(),
		Evidence: a.Evidence, Edition: a.Edition,
	}
	for i := range a.Rules {
		r := &a.Rules[i]
		rule := r.View(a.Evidence.Refreshes > 0)
		rule.Present = r.TTL == present
		v.Rules = append(v.Rules, rule)
	}
	if a.TTL > 0 {
		ttl := a.TTL.Seconds()
		v.Advised = &ttl
	}
	return v
}

// View of a rule. Known: something is known of changes.
func (r *Rule) View(known bool) RuleView {
	v := RuleView{TTL: r.TTL.Seconds(), Calls: r.Calls, CallsLow: r.CallsLow, CallsHigh: r.CallsHigh}
	if known {
		v.Older, v.OlderLow, v.OlderHigh, v.AtMost = &r.Older, &r.OlderLow, &r.OlderHigh, r.AtMost
	}
	return v
}
