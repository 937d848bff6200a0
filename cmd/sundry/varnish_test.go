package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/upstreams/lib/peertest"
)

// varnish runs in front of a server until the test ends, as a cache that does
// what the headers say. Its answers tell how long it means to keep them.
func varnish(t *testing.T, backend string) (url string) {
	t.Helper()
	program := peertest.Program(t, "varnish", "varnish", "varnishd")
	host, port, err := net.SplitHostPort(strings.TrimPrefix(backend, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), freeAddress(t)
	vcl := write(t, dir, "front.vcl", fmt.Sprintf(`vcl 4.1;
backend default { .host = "%s"; .port = "%s"; }
sub vcl_backend_response { set beresp.grace = 0s; }
sub vcl_deliver { set resp.http.Front-TTL = obj.ttl; set resp.http.Front-Hits = obj.hits; }
`, host, port))
	// Without a jail, so that it runs for whoever runs the tests.
	runPeer(t, listen, program, "-F", "-j", "none", "-n", filepath.Join(dir, "v"), "-a", listen, "-f", vcl, "-s", "malloc,16m", "-T", "none",
		"-p", "thread_pool_min=10", "-p", "thread_pools=1")
	return "http://" + listen
}

// TestACacheInFrontKeepsAnAnswerAsLongAsWeDo: an answer that has stood here for
// a while is kept for the rest of its freshness, no less and no more.
func TestACacheInFrontKeepsAnAnswerAsLongAsWeDo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"edition":%d}`, calls.Add(1))
	}))
	defer up.Close()
	dir := t.TempDir()
	writeOwn(t, dir, &upstream{Server: up}, "ttl: 6s, jitter: 0, eager: 0")
	p := serve(t, "--catalog", dir)
	front := varnish(t, p.public)
	mustGet(t, p.public+"/api/own")
	born := time.Now()
	waittest.Until(t, "the answer is a third of its life old", func() bool {
		h, _ := mustGet(t, p.public+"/api/own")
		return h.Get("Age") == "2"
	})
	h, body := mustGet(t, front+"/api/own")
	if ttl := number(t, h, "Front-TTL"); !strings.Contains(body, `"edition":1`) || ttl < 2 || ttl > 4 {
		t.Fatalf("the cache in front means to keep %s for %v s, want the rest of 6 s: %v", body, ttl, h)
	}
	hits, last := 0.0, time.Duration(0)
	waittest.Until(t, "the next edition", func() bool {
		asked := time.Now()
		h, body := mustGet(t, front+"/api/own")
		if strings.Contains(body, `"edition":1`) {
			hits, last = max(hits, number(t, h, "Front-Hits")), asked.Sub(born)
			return false
		}
		return true
	})
	if hits == 0 || last < 4*time.Second || last > 6100*time.Millisecond {
		t.Errorf("%v hits in front, the last at an age of %v, want some and nearly 6 s", hits, last)
	}
}

func number(t *testing.T, h http.Header, name string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(h.Get(name), 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
