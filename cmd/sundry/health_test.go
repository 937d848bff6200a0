package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthAsksTheServer(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay", "--config", write(t, t.TempDir(), "sundry.yaml", "base_path: /tools\n"))
	addr := strings.TrimPrefix(p.public, "http://")
	file := write(t, t.TempDir(), "sundry.yaml", "listen: '"+addr+"'\nbase_path: /tools\n")
	for what, c := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"file":        {nil, []string{"--config", file}},
		"environment": {map[string]string{"SUNDRY_LISTEN": addr, "SUNDRY_BASE_PATH": "/tools"}, nil},
		"flag":        {map[string]string{"SUNDRY_LISTEN": "127.0.0.1:1", "SUNDRY_BASE_PATH": "/tools"}, []string{"--listen", addr}},
		"readiness":   {map[string]string{"SUNDRY_LISTEN": addr, "SUNDRY_BASE_PATH": "/tools"}, []string{"--ready"}},
		// What it runs on was sound when it was read.
		"a mistake in the file": {map[string]string{"SUNDRY_LISTEN": addr, "SUNDRY_BASE_PATH": "/tools"}, []string{"--config", write(t, t.TempDir(), "sundry.yaml", "listne: x\n")}},
	} {
		if out, _, err := call(t, c.env, append([]string{"health"}, c.args...)...); err != nil || out != "ok\n" {
			t.Errorf("%s: %q %v", what, out, err)
		}
	}
	if _, _, err := call(t, nil, "health", "--listen", addr); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("without the base path: %v", err)
	}
	p.end()
	if _, _, err := call(t, nil, "health", "--config", file); err == nil || !strings.Contains(err.Error(), addr+" does not answer: ") || strings.Contains(err.Error(), "localhost") {
		t.Errorf("a stopped server is healthy: %v", err)
	}
}

func TestHealthTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	draining := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/-/readyz":
			http.Error(w, "draining", http.StatusServiceUnavailable)
		case "/moved/-/healthz":
			http.Redirect(w, r, "/-/healthz", http.StatusFound)
		}
	}))
	t.Cleanup(draining.Close)
	addr := strings.TrimPrefix(draining.URL, "http://")
	if out, _, err := call(t, nil, "health", "--listen", addr); err != nil {
		t.Errorf("a draining server does not live: %s %v", out, err)
	}
	for want, c := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"503 Service Unavailable: draining": {nil, []string{"--listen", addr, "--ready"}},
		"302 Found":                         {map[string]string{"SUNDRY_BASE_PATH": "/moved"}, []string{"--listen", addr}},
		"only known to the server":          {nil, []string{"--listen", ":0"}},
		"an address and a port":             {nil, []string{"--listen", "localhost"}},
		"/does/not/exist":                   {map[string]string{"SUNDRY_LISTEN": "127.0.0.1:1"}, []string{"--config", "/does/not/exist"}},
	} {
		if _, _, err := call(t, c.env, append([]string{"health"}, c.args...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", c.args, err, want)
		}
	}
}

func TestHealthDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	_, _, err := call(t, nil, "health", "--listen", strings.TrimPrefix(silent.URL, "http://"))
	if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("%v", err)
	}
}

func TestReachable(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		":8080": "127.0.0.1:8080", "0.0.0.0:80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "10.0.0.7:80": "10.0.0.7:80",
		"[::1]:80": "[::1]:80", "localhost:http": "localhost:http", ":http": "127.0.0.1:http",
	} {
		if got, err := reachable(listen); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", listen, got, err, want)
		}
	}
}
