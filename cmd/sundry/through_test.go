package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/cmd/sundry/internal/config"
)

// TestServeTo serves an API as it is with no file at all: cached as it says, all methods, all paths but those of health.
func TestServeTo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		if r.Method != http.MethodGet {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprintf(w, "%s %d", r.URL, n)
	}))
	t.Cleanup(api.Close)
	p := serve(t, "--to", api.URL+"/v1")
	for range 2 {
		if _, body := mustGet(t, p.public+"/api/60s?b=1&a=2"); body != "/v1/api/60s?b=1&a=2 1" {
			t.Errorf("%q", body)
		}
	}
	header, _ := mustGet(t, p.public+"/api/60s?b=1&a=2")
	if s := header.Get("Cache-Status"); !strings.HasPrefix(s, "sundry; hit; ttl=") {
		t.Errorf("%q", s)
	}
	resp, err := http.Post(p.public+"/api/60s?b=1&a=2", "text/plain", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "POST /v1/api/60s?b=1&a=2 text" {
		t.Errorf("%q", body)
	}
	if _, body := mustGet(t, p.public+"/api/60s?b=1&a=2"); body != "/v1/api/60s?b=1&a=2 3" {
		t.Errorf("%q after a POST", body)
	}
	mustGet(t, p.public+"/healthz")
	for _, to := range []string{"api.example.org", "ftp://x", "http://", "http://x?y", "http://u:p@x"} {
		if _, errs, err := call(t, nil, "serve", "--to", to); err == nil || !strings.Contains(err.Error(), "https://api.example.org") {
			t.Errorf("%s: %v %s", to, err, errs)
		}
	}
}

// TestServeToCallsNoUpstream of endpoints that nobody can ask for, whatever the configuration says of warming.
func TestServeToCallsNoUpstream(t *testing.T) {
	t.Parallel()
	for warm, want := range map[string]bool{"": true, "true": true, "false": false} {
		s := &server{cmd: &serveCmd{}, config: &config.Config{}}
		s.config.Cache.Warm = config.Choice(warm)
		if s.warms() != want {
			t.Errorf("warm: %q is not heard", warm)
		}
		if s.cmd.To = "http://127.0.0.1:9/"; s.warms() {
			t.Errorf("warm: %q: upstreams are called", warm)
		}
	}
}
