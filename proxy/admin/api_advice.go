package admin

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"time"

	"sundry/cache/advise"
	"sundry/proxy/live"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// adviceView is the advice on the TTL of an endpoint, with what came of the one in force.
type adviceView struct {
	advise.View
	// Since is when the TTL in force took effect.
	Since time.Time `json:"since,omitzero"`
	// Seen is what it has led to since then, and Predicted what it was to lead to; nil: not
	// known.
	Seen      *advise.RuleView `json:"seen"`
	Predicted *advise.RuleView `json:"predicted"`
	Autopilot autopilotView    `json:"autopilot"`
}

// autopilotView is what the autopilot does about an endpoint. Its bounds are in seconds.
type autopilotView struct {
	On     bool              `json:"on"`
	MinS   float64           `json:"min_s,omitempty"`
	MaxS   float64           `json:"max_s,omitempty"`
	Reason map[string]string `json:"reason,omitempty"` // by language
	// TTLS is the TTL that it would set now; that in force for none.
	TTLS float64 `json:"ttl_s,omitempty"`
	// Last is the last step, as far back as the audit log goes.
	Last *stepView `json:"last,omitempty"`
}

// stepView is a step of the autopilot from one TTL to another.
type stepView struct {
	At   time.Time `json:"at"`
	From string    `json:"from"`
	To   string    `json:"to"`
	Note string    `json:"note"`
}

// mostAsked bounds the TTLs of a query: each is a replay of what was seen.
const mostAsked = 8

// advice says which TTL meets the target of an endpoint, and what each leads to. The query
// may name further TTLs, and another target.
func (a *api) advice(r *http.Request) (any, error) {
	e, err := a.cachedEndpoint(r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	ttls, target, err := asked(r.URL.Query())
	if err != nil {
		return nil, err
	}
	report := a.Advise(e, ttls, target)
	return adviceView{
		View: report.View(e.Name, report.Present), Since: report.Since,
		Seen: ruleView(report.Seen), Predicted: ruleView(report.Predicted), Autopilot: a.autopilot(e),
	}, nil
}

// cachedEndpoint is an endpoint with a cache rule.
func (a *api) cachedEndpoint(name string) (*catalog.Endpoint, error) {
	e, ok := a.Catalog().Get(name)
	switch {
	case !ok:
		return nil, noEndpoint(name)
	case !e.Policy.Stores():
		return nil, badRequest("%s is not cached, so there is nothing to advise", "%s 不缓存，因此没有可以建议的", e.Name)
	}
	return e, nil
}

// asked are the TTLs and the target of a query; none and zero where it has none.
func asked(query url.Values) (ttls []time.Duration, target advise.Target, err error) {
	texts := query["ttl"]
	if len(texts) > mostAsked {
		return nil, target, fieldError("ttl", "%d TTLs: expected at most %d", "ttl 有 %d 个，最多 %d 个", len(texts), mostAsked)
	}
	for _, text := range texts {
		if err := catalog.CheckSettings(map[string]string{"ttl": text}); err != nil {
			return nil, target, told("ttl", err)
		}
		ttl, _ := declare.ParseDuration(text) // checked
		ttls = append(ttls, ttl)
	}
	if text := query.Get("target"); text != "" {
		if err := catalog.CheckSettings(map[string]string{"target": text}); err != nil {
			return nil, target, told("target", err)
		}
		target, _ = advise.ParseTarget(text) // checked
	}
	return ttls, target, nil
}

func ruleView(r *advise.Rule) *advise.RuleView {
	if r == nil {
		return nil
	}
	v := r.View(true)
	return &v
}

func (a *api) autopilot(e *catalog.Endpoint) autopilotView {
	v := autopilotView{Last: lastStep(a.Replicator.Settings().Audit, e)}
	if s := a.Autopilot(e.Name); s.On {
		v.On, v.MinS, v.MaxS, v.TTLS = true, s.Min.Seconds(), s.Max.Seconds(), s.TTL.Seconds()
		v.Reason = titles(s.Why)
	}
	return v
}

// lastStep of the autopilot on an endpoint; nil: there is none in the audit log.
func lastStep(audit []live.Record, e *catalog.Endpoint) *stepView {
	for _, r := range slices.Backward(audit) {
		if r.By == live.ByAutopilot && r.Target == e.Name {
			return &stepView{r.At, ttlOf(r.Before, e), ttlOf(r.After, e), r.Note}
		}
	}
	return nil
}

// ttlOf is the TTL of settings as the audit log has them, or that of the files.
func ttlOf(settings json.RawMessage, e *catalog.Endpoint) string {
	var s live.CacheSettings
	if json.Unmarshal(settings, &s) == nil && s.Values["ttl"] != "" {
		return s.Values["ttl"]
	}
	return e.Base.TTL.String()
}
