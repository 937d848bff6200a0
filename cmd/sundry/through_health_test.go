package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// TestHealthChecksOfAnAPI are in metrics, console and explain, and end with the key in the file of the API.
func TestHealthChecksOfAnAPI(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	fails.Store(true)
	var addresses []string
	for _, name := range []string{"a", "b"} {
		origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v1/up" && name == "a" && fails.Load() {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			fmt.Fprint(w, name)
		}))
		t.Cleanup(origin.Close)
		addresses = append(addresses, strings.TrimPrefix(origin.URL, "http://"))
	}
	dir := t.TempDir()
	save := func(health string) {
		write(t, dir, "app.yaml", fmt.Sprintf("version: 1\nname: app\nproxy: {to: ['http://%s/v1', 'http://%s/v1'], balance: round_robin%s}\n", addresses[0], addresses[1], health))
	}
	save(", health: {path: /up, every: 1s}")
	p := serve(t, "--catalog", dir)
	has := func(line string) func() bool {
		return func() bool {
			_, metrics := mustGet(t, p.admin+"/metrics")
			return strings.Contains(metrics, line)
		}
	}
	out := fmt.Sprintf(`sundry_upstream_checked_out{endpoint="app",host="%s"} `, addresses[0])
	waittest.Until(t, "the first address is out", has(out+"1\n"))
	for _, line := range []string{
		fmt.Sprintf(`sundry_upstream_checked_out{endpoint="app",host="%s"} 0`, addresses[1]),
		fmt.Sprintf(`sundry_upstream_attempts_total{endpoint="app",result="5xx",source="%s health"} `, addresses[0]),
	} {
		if !has(line)() {
			t.Errorf("no %s", line)
		}
	}
	for i := range 4 {
		if _, body := mustGet(t, fmt.Sprint(p.public, "/api/app/", i)); body != "b" {
			t.Errorf("%q answers", body)
		}
	}
	if _, v := p.ask(http.MethodGet, "upstreams", ""); !strings.Contains(fmt.Sprint(v["sources"]), "out:true") {
		t.Errorf("the console does not show it: %v", v)
	}
	fails.Store(false)
	waittest.Until(t, "the first address is back", has(out+"0\n"))
	save("")
	waittest.Until(t, "the checks end", func() bool { return !has("sundry_upstream_checked_out")() })
	if log := p.stderr.String(); !strings.Contains(log, "health checks fail; the address is asked last") || !strings.Contains(log, "health check succeeded") {
		t.Errorf("the log says\n%s", log)
	}
}
