package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOutgoingSettingsAreReloaded: contact, agents and proxies of the next request
// are those of the file.
func TestOutgoingSettingsAreReloaded(t *testing.T) {
	t.Parallel()
	var agent atomic.Value
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent.Store(r.UserAgent())
		fmt.Fprintf(w, `{"id":%q}`, r.URL.Query().Get("id"))
	}))
	t.Cleanup(up.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	dead := "http://somebody:geheim-31415@" + gone.Listener.Addr().String()
	cold := "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n" + only("ip")
	file := write(t, t.TempDir(), "sundry.yaml", cold)
	p := serve(t, "--config", file, "--catalog", catalogDir(t, &upstream{Server: up}, "ttl: 1h"))
	for i, row := range []struct {
		set, agent string
		status     int
	}{
		{"", "Sundry/" + strings.Trim(version(), "()"), http.StatusOK},
		{"contact: ops@example.org\nproxies: {ip: '" + dead + "'}\n", "Sundry/" + strings.Trim(version(), "()") + " (+ops@example.org)", http.StatusOK},
		{"proxies: {own/up: '" + dead + "'}\n", "", http.StatusBadGateway},
		{"proxy: '" + dead + "'\n", "", http.StatusBadGateway},
		{"proxy: '" + dead + "'\nproxies: {own: direct}\n", "Sundry/" + strings.Trim(version(), "()"), http.StatusOK},
	} {
		if status, doc := p.reloaded(t, file, cold+row.set); status != http.StatusOK {
			t.Fatalf("row %d: %d %v", i, status, doc)
		}
		p.mustAsk(http.MethodPost, "upstreams/"+up.Listener.Addr().String(), `{"do":"reset"}`)
		agent.Store("")
		status, _, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, i+1))
		if err != nil || status != row.status || agent.Load() != row.agent {
			t.Errorf("row %d: %d %s %v, agent %q, want %q", i, status, body, err, agent.Load(), row.agent)
		}
	}
	shown := fmt.Sprint(p.stderr, p.mustAsk(http.MethodGet, "failures", ""), p.mustAsk(http.MethodGet, "upstreams", ""))
	if strings.Contains(shown, "geheim") || strings.Contains(shown, "somebody") {
		t.Errorf("a password is shown: %s", shown)
	}
	for _, want := range []string{"proxy: proxyconnect tcp: dial tcp " + gone.Listener.Addr().String(), "proxy has changed (its value is not shown)", "contact: ops@example.org, was not set"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in %s", want, shown)
		}
	}
}

// TestProxiesOfUnknownSources are mistakes: they would never be used.
func TestProxiesOfUnknownSources(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", "log_level: info\nproxies:\n  vidparse: direct\n  vidparze: direct\n")
	if _, errs, err := call(t, nil, "check", "--config", file); err == nil || !strings.Contains(errs, file+":3: proxies: vidparze: unknown endpoint or source; did you mean vidparse?") {
		t.Errorf("%v %s", err, errs)
	}
	if _, errs, err := call(t, map[string]string{"SUNDRY_PROXIES": "ip/nobody=direct,kd/kuaidi100=http://u:geheim@a"}, "check"); err == nil || !strings.Contains(errs, "SUNDRY_PROXIES: ip/nobody: unknown endpoint or source") || strings.Contains(errs, "kuaidi") {
		t.Errorf("%v %s", err, errs)
	}
}
