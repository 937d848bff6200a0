package proxy

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"sundry/proxy/through"
	"sundry/upstreams"
)

const lateCatalog = `version: 1
name: late
group: text
summary: {en: An old edition., zh: 旧}
cache: {class: shared, until: "00:00 Asia/Shanghai", ttl: 30m, grace: 1h, stale_if_error: 48h, edition: .date}
forms: [{name: json, json: .}]
sources: [{name: up, http: {url: %q}}]
`

// scrape reads the registry as Prometheus does, with exemplars.
func scrape(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(w, r)
	return w.Body.String()
}

func TestMetricsOfEndpointsAndExemplars(t *testing.T) {
	up := newFake(t, `{"date":"2020-01-01"}`)
	reg := prometheus.NewRegistry()
	f := newFront(t, map[string]string{"late": fmt.Sprintf(lateCatalog, up.URL+"/")},
		func(c *Config, _ *upstreams.Environment) {
			c.Registerer = reg
			c.Limits = Limits{Rate: 0.01, Burst: 10, InFlight: 77}
		})
	ask := func(id string) {
		r := httptest.NewRequest(http.MethodGet, "/api/late", nil)
		r.Header.Set("X-Request-Id", id)
		w := httptest.NewRecorder()
		f.server.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if text := scrape(t, reg); !strings.Contains(text, `sundry_endpoint_edition_late_seconds{endpoint="late"} 0`) {
		t.Error("late before anything is cached")
	}
	ask("the-miss")
	ask("the-hit")
	text := scrape(t, reg)
	for _, want := range []string{
		`sundry_endpoint_ttl_seconds{endpoint="late"} 1800`, `sundry_endpoint_stale_if_error_seconds{endpoint="late"} 172800`,
		"sundry_requests_in_flight_limit 77", "sundry_rate_limit_clients 1", `# {request_id="the-miss"}`,
		`sundry_endpoint_edition_late_seconds{endpoint="late"} 2.`, // e+08: since 2020
		`sundry_request_duration_seconds_count{endpoint="late"} 2`, `sundry_request_added_seconds_count{endpoint="late"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "the-hit") {
		t.Error("a hit pays for an exemplar")
	}
}

// TestLatencyOfAnAPI: a body may be large, or have no end.
func TestLatencyOfAnAPI(t *testing.T) {
	start := time.Now().Add(-time.Hour)
	if got := latencyOfAPI(&through.Result{Head: start.Add(time.Second)}, start); got != time.Second {
		t.Errorf("with a head after a second: %s", got)
	}
	if got := latencyOfAPI(&through.Result{}, start); got < time.Hour {
		t.Errorf("without a head, after an hour: %s", got)
	}
}

func TestRemovedEndpointLeavesTheGauges(t *testing.T) {
	reg := prometheus.NewRegistry()
	f := newFront(t, map[string]string{"late": fmt.Sprintf(lateCatalog, "http://127.0.0.1:1/")},
		func(c *Config, _ *upstreams.Environment) { c.Registerer = reg }).withBuiltins("60s", "ip")
	const series = `sundry_endpoint_ttl_seconds{endpoint="late"}`
	if !strings.Contains(scrape(t, reg), series) {
		t.Error("the endpoint has no TTL")
	}
	if err := os.Remove(filepath.Join(f.dir, "late.yaml")); err != nil {
		t.Fatal(err)
	}
	f.load(nil)
	if text := scrape(t, reg); strings.Contains(text, series) || !strings.Contains(text, "sundry_endpoint_ttl_seconds{") {
		t.Error("a removed endpoint keeps its TTL, or the others lost theirs")
	}
}
