package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// listenAt serves an application at a Unix socket until the test or the application ends.
func listenAt(t *testing.T, path string, h http.HandlerFunc) (end func()) {
	t.Helper()
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return func() { _ = server.Close() }
}

// TestAnAPIAtAUnixSocket is served as one of the network is: two sockets of one API are told apart, references lead here, and one that is
// not there while the application restarts is tried again within a second.
func TestAnAPIAtAUnixSocket(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") // the directory of the test may have too long a name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	answer := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://localhost/v1/next")
			fmt.Fprintf(w, "%s: %s at %s", name, r.URL.Path, r.Host)
		}
	}
	first, second := filepath.Join(dir, "first.sock"), filepath.Join(dir, "second.sock")
	listenAt(t, second, answer("second"))
	catalog := t.TempDir()
	write(t, catalog, "app.yaml", "version: 1\nname: app\nproxy: {to: ['unix:"+first+":/v1', 'unix:"+second+":/v1']}\n")
	p := serve(t, "--catalog", catalog)
	want := func(body string) {
		t.Helper()
		waittest.Until(t, body, func() bool {
			header, got := mustGet(t, p.public+"/api/app/a")
			return got == body && header.Get("Location") == "/api/app/next"
		})
	}
	want("second: /v1/a at localhost")
	end := listenAt(t, first, answer("first"))
	want("first: /v1/a at localhost")
	end()
	want("second: /v1/a at localhost")
	listenAt(t, first, answer("first"))
	want("first: /v1/a at localhost")
	_, metrics := mustGet(t, p.admin+"/metrics")
	if want := `sundry_upstream_attempts_total{endpoint="app",result="success",source="unix:` + first + `"}`; !strings.Contains(metrics, want) {
		t.Errorf("no %s", want)
	}
	if status, v := p.ask(http.MethodPost, "upstreams/"+strings.ReplaceAll("unix:"+first, "/", "%2F"), `{"do":"open","for":"1h"}`); status != http.StatusOK {
		t.Errorf("the breaker cannot be held: %d %v", status, v)
	}
	want("second: /v1/a at localhost")
	out, errs, err := call(t, onlyIn(t), "try", "--to", "unix:"+second+":/v1", "/a")
	if err != nil || !strings.Contains(out, "unix:"+second+":/v1/a") {
		t.Errorf("%s %s %v", out, errs, err)
	}
}
