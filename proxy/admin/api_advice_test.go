package admin

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/proxy/autopilot"
	"sundry/proxy/live"
	"sundry/upstreams/catalog"
	"sundry/upstreams/catalog/catalogtest"
)

const own = `version: 1
name: own
group: lookups
summary: {en: own, zh: 自己的}
cache: {class: shared, ttl: 1h, target: {old: 5%}}
forms: [{name: json, json: .}]
sources: [{name: up, http: {url: "https://own.example.org/"}}]
`

// seenFor is an observer that saw two days of the endpoint: a request every minute, and a
// refresh an hour, of which every sixth found a change.
func seenFor(e *catalog.Endpoint, now time.Time) *advise.Observer {
	o, begin := advise.NewObserver(), now.Add(-48*time.Hour)
	o.Rules([]advise.InForce{{Space: e.Name, Policy: &e.Policy, Target: e.Target}}, begin)
	for minute := range 48 * 60 {
		at := begin.Add(time.Duration(minute) * time.Minute)
		o.Requested(e.Name, 1, 1, at)
		if minute > 0 && minute%60 == 0 {
			o.Filled(cache.Filled{Space: e.Name, Key: 1, Source: "up", BeforeSource: "up", Before: at.Add(-time.Hour), At: at, Changed: minute%360 == 0})
		}
	}
	return o
}

// advising is an API about the endpoint own, on which the autopilot is on and has taken a step.
func advising(t *testing.T, file string) *api {
	t.Helper()
	c := catalogtest.Load(t, map[string]string{"own": file})
	e, _ := c.Get("own")
	observer, replicator := seenFor(e, time.Now()), newReplicator(t, &live.File{})
	for _, by := range []string{live.ByAutopilot, "alice"} {
		if _, err := replicator.Change(t.Context(), live.Change{By: by, Do: live.DoCache, Target: "own", Cache: map[string]string{"ttl": "75m"}, Note: "of " + by}); err != nil {
			t.Fatal(err)
		}
	}
	return &api{System: System{
		Catalog: func() *catalog.Catalog { return c }, Replicator: replicator, Log: slog.New(slog.DiscardHandler),
		Advise: func(e *catalog.Endpoint, ttls []time.Duration, target advise.Target) advise.Report {
			r, _ := observer.Report(e.Name, ttls, target)
			return r
		},
		Autopilot: func(string) autopilot.Status {
			return autopilot.Status{On: true, Min: time.Minute, Max: 24 * time.Hour, Why: words.Say("because", "因为")}
		},
	}}
}

// adviceOn asks for the advice with a query.
func (a *api) adviceOn(t *testing.T, query string) (status int, body string, v adviceView) {
	t.Helper()
	r, w := httptest.NewRequest(http.MethodGet, "/?"+query, nil), httptest.NewRecorder()
	r.SetPathValue("name", "own")
	a.serveJSON(a.advice).ServeHTTP(w, r)
	body = w.Body.String()
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatal(err)
	}
	return w.Code, body, v
}

// TestAdviceOfAnEndpoint: what each TTL leads to, what came of the present one, the autopilot.
func TestAdviceOfAnEndpoint(t *testing.T) {
	a := advising(t, own)
	status, body, v := a.adviceOn(t, "")
	present := slices.IndexFunc(v.Rules, func(r advise.RuleView) bool { return r.Present })
	if status != http.StatusOK || v.Target != "old=5%" || present < 1 || v.Rules[present].TTL != 3600 || v.Evidence.Changes != 7 || v.Reason == "" || v.ReasonZH == "" {
		t.Fatalf("%d %s", status, body)
	}
	for i, r := range v.Rules {
		if *r.OlderLow > *r.Older || *r.Older > *r.OlderHigh || r.CallsLow > r.Calls || r.Calls > r.CallsHigh || i > 0 && r.TTL <= v.Rules[i-1].TTL {
			t.Errorf("%+v", r)
		}
	}
	if v.Seen == nil || v.Seen.TTL != 3600 || v.Predicted != nil || v.Since.IsZero() || !strings.Contains(body, `"predicted":null`) {
		t.Errorf("seen %+v, predicted %+v since %v", v.Seen, v.Predicted, v.Since)
	}
	p := v.Autopilot
	if last := p.Last; !p.On || p.MinS != 60 || p.MaxS != 86400 || p.Reason["zh"] != "因为" || last == nil || last.From != "1h0m0s" || last.To != "75m" || last.Note != "of autopilot" {
		t.Errorf("%+v, last %+v", p, last)
	}
}

// TestAdviceForAnotherTarget: and on other TTLs.
func TestAdviceForAnotherTarget(t *testing.T) {
	a := advising(t, own)
	_, body, v := a.adviceOn(t, "ttl=100m&ttl=7m&target=calls=2/h")
	for _, ttl := range []float64{6000, 420} {
		if !slices.ContainsFunc(v.Rules, func(r advise.RuleView) bool { return r.TTL == ttl }) {
			t.Errorf("no %v s in %s", ttl, body)
		}
	}
	if v.Target != "calls=2/h" || v.Advised == nil || *v.Advised >= 3600 {
		t.Error(body)
	}
	for query, field := range map[string]string{"ttl=0s": "ttl", "target=2%25": "target", strings.Repeat("ttl=1h&", mostAsked+1): "ttl"} {
		if status, body, _ := a.adviceOn(t, query); status != http.StatusBadRequest || !strings.Contains(body, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
}

// TestAdviceWhereTheTimetableDecides alone: there is no TTL.
func TestAdviceWhereTheTimetableDecides(t *testing.T) {
	a := advising(t, strings.Replace(own, "ttl: 1h", `until: "06:00 Asia/Shanghai"`, 1))
	status, body, v := a.adviceOn(t, "")
	if status != http.StatusOK || len(v.Rules) > 0 || v.Advised != nil || !strings.Contains(v.Reason, "timetable") || v.Evidence.Refreshes < 40 {
		t.Errorf("%d %s", status, body)
	}
}

// TestSettingsOfAnEndpoint have its target and its autopilot.
func TestSettingsOfAnEndpoint(t *testing.T) {
	e, _ := catalogtest.Load(t, map[string]string{"own": own}).Get("own")
	e.Autopilot = &catalog.Bounds{Min: time.Hour, Max: 48 * time.Hour}
	got := settingTexts(e)
	if got["target"] != "old=5%" || got["autopilot"] != "1h0m0s..48h0m0s" || got["ttl"] != "1h0m0s" {
		t.Error(got)
	}
	for _, name := range []string{"target", "autopilot"} { // as it is shown it can be set
		if err := e.CheckLive(map[string]string{name: got[name]}); err != nil {
			t.Error(err)
		}
	}
}
