package admin

import (
	"net/http"
	"net/url"
	"time"

	"sundry/cache"
	"sundry/cache/advisor"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// adviceView is the advice on an endpoint's cache rule. Times are in seconds.
type adviceView struct {
	Endpoint string `json:"endpoint"`
	// Verdict is wait, keep, set or schedule, and Until the timetable to declare.
	Verdict string             `json:"verdict"`
	Reason  map[string]string  `json:"reason"` // by language
	Until   string             `json:"until,omitempty"`
	Change  changeView         `json:"change"`
	Sources []sourceChangeView `json:"sources,omitempty"`
	// Requests per second, and the different keys of a day.
	Requests float64 `json:"requests_per_s"`
	Keys     float64 `json:"keys"`

	Present     outcomeView `json:"present"`
	Recommended outcomeView `json:"recommended"`
	// Asked is the outcome of the ttl and grace of the query.
	Asked *outcomeView  `json:"asked,omitempty"`
	Curve []outcomeView `json:"curve"`

	// Measured is what has come of the rule in force, Before of the one before it, and
	// Predicted what was predicted of the rule in force when it took effect.
	Measured  *measuredView `json:"measured,omitempty"`
	Before    *measuredView `json:"before,omitempty"`
	Predicted *outcomeView  `json:"predicted,omitempty"`
}

// measuredView is what really happened under a rule.
type measuredView struct {
	Since        time.Time `json:"since"`
	TTLS         float64   `json:"ttl_s"`
	GraceS       float64   `json:"grace_s"`
	CallsPerHour float64   `json:"calls_per_hour"`
	HitRatio     float64   `json:"hit_ratio"`
	OldShare     *float64  `json:"old_share,omitempty"` // nil: not known
	Requests     float64   `json:"requests"`
}

func newMeasuredView(m *advisor.Measured) *measuredView {
	if m == nil {
		return nil
	}
	v := &measuredView{m.Since, m.TTL.Seconds(), m.Grace.Seconds(), m.CallsPerHour, m.HitRatio, nil, m.Requests}
	if m.OldKnown {
		v.OldShare = &m.OldShare
	}
	return v
}

// changeView is how a content changes.
type changeView struct {
	Kind      string  `json:"kind"`
	Probable  bool    `json:"probable,omitempty"`
	IntervalS float64 `json:"interval_s"` // 0: not known
	LowS      float64 `json:"low_s"`
	HighS     float64 `json:"high_s"` // 0: no upper bound
	// At is when a periodic content changes, in Zone.
	At        string    `json:"at,omitempty"`
	Zone      string    `json:"zone,omitempty"`
	Refreshes int       `json:"refreshes"`
	Changes   int       `json:"changes"`
	Since     time.Time `json:"since,omitzero"`
}

type sourceChangeView struct {
	Source string     `json:"source"`
	Change changeView `json:"change"`
}

// outcomeView is what a rule leads to.
type outcomeView struct {
	TTLS         float64 `json:"ttl_s"`
	GraceS       float64 `json:"grace_s"`
	CallsPerHour float64 `json:"calls_per_hour"`
	HitRatio     float64 `json:"hit_ratio"`
	OldShare     float64 `json:"old_share"`
	QuotaUsed    float64 `json:"quota_used,omitempty"`
}

func newChangeView(c *advisor.Change) changeView {
	v := changeView{
		Kind: string(c.Kind), Probable: c.Probable, IntervalS: c.Interval.Seconds(), LowS: c.Low.Seconds(), HighS: c.High.Seconds(),
		At: c.At(), Refreshes: c.Refreshes, Changes: c.Changes, Since: c.Since,
	}
	if v.At != "" {
		v.Zone = c.Zone
	}
	return v
}

func newOutcomeView(o *advisor.Outcome) outcomeView {
	return outcomeView{o.TTL.Seconds(), o.Grace.Seconds(), o.CallsPerHour, o.HitRatio, o.OldShare, o.QuotaUsed}
}

// advice says what to do about an endpoint's cache rule. With ttl or grace in the query, it
// also predicts what the rule with these would lead to.
func (a *api) advice(r *http.Request) (any, error) {
	e, err := a.cachedEndpoint(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	asked, err := askedPolicy(&e.Policy, r.URL.Query())
	if err != nil {
		return nil, err
	}
	advice := a.Advise(e)
	v := adviceView{
		Endpoint: e.Name, Verdict: string(advice.Verdict), Reason: map[string]string{"en": advice.Reason.EN, "zh": advice.Reason.ZH},
		Until: advice.Until, Change: newChangeView(&advice.Change), Requests: advice.RequestsPerSecond, Keys: advice.Keys,
		Present: newOutcomeView(&advice.Present), Recommended: newOutcomeView(&advice.Recommended), Curve: []outcomeView{},
	}
	v.Measured, v.Before = newMeasuredView(advice.Measured), newMeasuredView(advice.Before)
	if advice.Predicted != nil {
		predicted := newOutcomeView(advice.Predicted)
		v.Predicted = &predicted
	}
	for i := range advice.Sources {
		v.Sources = append(v.Sources, sourceChangeView{advice.Sources[i].Source, newChangeView(&advice.Sources[i].Change)})
	}
	for i := range advice.Curve {
		v.Curve = append(v.Curve, newOutcomeView(&advice.Curve[i]))
	}
	if asked != nil {
		o := advice.Prediction.Of(asked)
		view := newOutcomeView(&o)
		v.Asked = &view
	}
	return v, nil
}

// askedPolicy is the policy with the ttl and grace of a query; nil: it has none.
func askedPolicy(p *cache.Policy, query url.Values) (*cache.Policy, error) {
	asked, some := *p, false
	for name, into := range map[string]*time.Duration{"ttl": &asked.TTL, "grace": &asked.Grace} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		if err := catalog.CheckSettings(map[string]string{name: text}); err != nil {
			return nil, told("", err)
		}
		*into, _ = declare.ParseDuration(text) // checked
		some = true
	}
	if !some {
		return nil, nil
	}
	return &asked, nil
}
