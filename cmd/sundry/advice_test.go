package main

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/waittest"
)

// TestAdviceSeesRequestsAndRefreshes: of a running instance, over the admin API and as
// metrics, and says what it does not know.
func TestAdviceSeesRequestsAndRefreshes(t *testing.T) {
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+only("sfz"))
	p := serve(t, "--config", config, "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h"))
	for range 20 {
		mustGet(t, p.public+"/api/own")
	}
	advice := func() map[string]any { return p.mustAsk(http.MethodGet, "endpoints/own/advice?ttl=2h", "") }
	first := advice()
	if first["verdict"] != "wait" || first["requests_per_s"] == 0.0 || first["change"].(map[string]any)["refreshes"] != 0.0 {
		t.Errorf("%v", first)
	}
	if asked, _ := first["asked"].(map[string]any); asked["ttl_s"] != 7200.0 || first["present"].(map[string]any)["ttl_s"] != 3600.0 {
		t.Errorf("%v", first)
	}
	if reason, _ := first["reason"].(map[string]any); reason["en"] == "" || reason["zh"] == "" {
		t.Errorf("%v", first)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
	mustGet(t, p.public+"/api/own")
	waittest.Until(t, "the refresh is seen", func() bool {
		change, _ := advice()["change"].(map[string]any)
		return change["refreshes"] == 1.0 && change["changes"] == 0.0
	})
	measured := func(key string) map[string]any { m, _ := advice()[key].(map[string]any); return m }
	if m := measured("measured"); m["requests"] != 21.0 || m["ttl_s"] != 3600.0 || m["calls_per_hour"] == 0.0 || m["hit_ratio"] == 1.0 || measured("before") != nil {
		t.Errorf("measured %v", m)
	}
	p.mustAsk(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"90m"}}`)
	mustGet(t, p.public+"/api/own")
	if m := measured("measured"); m["requests"] != 1.0 || m["ttl_s"] != 5400.0 || m["calls_per_hour"] != 0.0 || m["hit_ratio"] != 1.0 || measured("before")["ttl_s"] != 3600.0 {
		t.Errorf("measured %v, before %v", m, measured("before"))
	}
	p.mustAsk(http.MethodDelete, "endpoints/own/cache", "")
	_, metrics := mustGet(t, p.admin+"/metrics")
	for _, line := range []string{
		`sundry_advisor_ttl_seconds{endpoint="own",rule="present"} 3600`, `sundry_advisor_change_kind{endpoint="own",kind="unknown"} 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	p.whatIfIsAnswered()
	for path, want := range map[string]int{
		"endpoints/none/whatif": http.StatusNotFound, "endpoints/sfz/whatif": http.StatusBadRequest, "endpoints/own/whatif?ttl=soon": http.StatusBadRequest,
		"endpoints/none/advice": http.StatusNotFound, "endpoints/sfz/advice": http.StatusBadRequest, "endpoints/own/advice?ttl=soon": http.StatusBadRequest,
	} {
		if status, doc := p.ask(http.MethodGet, path, ""); status != want || doc["error"] == "" {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
}

// whatIfIsAnswered: for the present rule and those that were asked for, or some around it.
func (p *instance) whatIfIsAnswered() {
	p.t.Helper()
	for query, want := range map[string][]float64{
		"": {600, 900, 1800, 3600, 7200, 10800, 21600}, "?ttl=10m&ttl=1h&ttl=1d": {600, 3600, 86400}, "?grace=7d": {3600, 3600},
	} {
		doc := p.mustAsk(http.MethodGet, "endpoints/own/whatif"+query, "")
		var ttls []float64
		last := math.Inf(1)
		for _, item := range doc["rules"].([]any) {
			rule := item.(map[string]any)
			ttls = append(ttls, rule["ttl_s"].(float64))
			present := rule["ttl_s"] == 3600.0 && rule["grace_s"] == 0.0
			calls := rule["calls_per_hour"].(float64)
			if (rule["present"] == true) != present || calls <= 0 || calls > 1.05*last || rule["hit_ratio"] == 0.0 || rule["old_share"] != nil || rule["p99_age_s"] == 0.0 {
				p.t.Errorf("whatif%s: %v", query, rule)
			}
			last = calls
		}
		if !slices.Equal(ttls, want) || doc["requests"] == 0.0 || doc["keys"] != 1.0 || doc["changes"] != "unknown" {
			p.t.Errorf("whatif%s: %v, %v", query, ttls, doc)
		}
	}
}
