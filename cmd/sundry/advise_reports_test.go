package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// TestAdviceSeesRequestsAndRefreshes: of a running instance, over the admin API and as
// metrics, and says what it does not know.
func TestAdviceSeesRequestsAndRefreshes(t *testing.T) {
	t.Parallel()
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+only("sfz"))
	p := launch(t, &process{getenv: noEnv, adviseEvery: 20 * time.Millisecond}, "--config", config, "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h"))
	for range 20 {
		mustGet(t, p.public+"/api/own")
	}
	advice := func(query string) map[string]any {
		return p.mustAsk(http.MethodGet, "endpoints/own/advice"+query, "")
	}
	evidence := func() map[string]any { return advice("")["evidence"].(map[string]any) }
	first := advice("?ttl=100m&target=calls%3D3/h")
	if first["advised_ttl_seconds"] != nil || first["target"] != "calls=3/h" || first["reason"] == "" || first["reason_zh"] == "" || evidence()["refreshes"] != 0.0 {
		t.Errorf("%v", first)
	}
	var ttls []float64
	for _, r := range first["rules"].([]any) {
		rule := r.(map[string]any)
		ttls = append(ttls, rule["ttl_seconds"].(float64))
		if (rule["present"] == true) != (rule["ttl_seconds"] == 3600.0) || rule["older_ratio"] != nil {
			t.Errorf("%v", rule)
		}
	}
	if !slices.Contains(ttls, 6000) {
		t.Errorf("no 100m among %v", ttls)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
	mustGet(t, p.public+"/api/own")
	waittest.Until(t, "the refresh is seen", func() bool { return evidence()["refreshes"] == 1.0 && evidence()["changes"] == 0.0 })
	waittest.Until(t, "its metrics", func() bool {
		_, metrics := mustGet(t, p.admin+"/metrics")
		return strings.Contains(metrics, `sundry_advise_ttl_seconds{endpoint="own",figure="present"} 3600`+"\n") &&
			strings.Contains(metrics, `sundry_advise_old_ratio{endpoint="own",figure="target"} 0.02`+"\n")
	})
	since := advice("")["since"]
	p.mustAsk(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"90m","target":"old=5%"}}`)
	if doc := advice(""); doc["since"] == since || doc["seen"] != nil || doc["target"] != "old=5%" {
		t.Errorf("%v", doc)
	}
	for path, want := range map[string]int{
		"endpoints/none/advice": http.StatusNotFound, "endpoints/sfz/advice": http.StatusBadRequest,
		"endpoints/own/advice?ttl=soon": http.StatusBadRequest, "endpoints/own/advice?target=2": http.StatusBadRequest,
	} {
		if status, doc := p.ask(http.MethodGet, path, ""); status != want || doc["error"] == "" {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
}
