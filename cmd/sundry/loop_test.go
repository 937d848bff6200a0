package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// nested is a link through this service to itself, so many levels deep.
func nested(public string, levels int) string {
	return strings.Repeat(public+"/api/dwzrec?url=", levels) + "https://example.org/"
}

var requestsTotal = regexp.MustCompile(`(?m)^sundry_requests_total\{.*\} (\d+)$`)

// requests that a process has answered.
func (p *instance) requests(t testing.TB) int {
	t.Helper()
	_, text := mustGet(t, p.admin+"/metrics")
	sum := 0
	for _, m := range requestsTotal.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// TestServiceDoesNotAskItself: a link of fifty levels through this service is
// refused where it comes back for the first time, and the caller hears why.
func TestServiceDoesNotAskItself(t *testing.T) {
	t.Parallel()
	p := serve(t, "--config", write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\nallow_targets: [127.0.0.0/8]\n"))
	status, _, body, err := get(nested(p.public, 50))
	if err != nil || status != http.StatusForbidden || !strings.Contains(body, `"type":"forbidden_target"`) {
		t.Errorf("%d %s %v", status, body, err)
	}
	if n := p.requests(t); n != 2 {
		t.Errorf("%d requests were answered, want that of the caller and the one that came back", n)
	}
}

// TestFleetIsOneService: instances with the same settings know each other's
// requests, an instance with an id of its own is another service.
func TestFleetIsOneService(t *testing.T) {
	t.Parallel()
	settings := func(more string) string {
		return write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\nallow_targets: [127.0.0.0/8]\n"+only("dwzrec")+more)
	}
	one := serve(t, "--config", settings("own_hosts: [b.example.org, a.example.org]\n"))
	two := serve(t, "--config", settings("own_hosts: [a.example.org, b.example.org]\n"))
	other := serve(t, "--config", settings("own_hosts: [a.example.org, b.example.org]\nloop_id: another\n"))
	for _, c := range []struct {
		asked, leads *instance
		want         int
	}{{one, two, http.StatusForbidden}, {one, other, http.StatusOK}, {other, two, http.StatusOK}} {
		if status, _, body, err := get(c.asked.public + "/api/dwzrec?url=" + c.leads.public + "/docs"); err != nil || status != c.want {
			t.Errorf("want %d, got %d %s %v", c.want, status, body, err)
		}
	}
	// By way of another service it still comes back marked.
	status, _, body, err := get(strings.Repeat(one.public+"/api/dwzrec?url="+other.public+"/api/dwzrec?url=", 10) + "https://example.org/")
	if err != nil || status != http.StatusOK || one.requests(t) > 4 {
		t.Errorf("%d %s %v, %d requests", status, body, err, one.requests(t))
	}
}

// TestDeclaredHostsSeeTheMark: so do those whose addresses stand in the catalog.
func TestDeclaredHostsSeeTheMark(t *testing.T) {
	t.Parallel()
	saw := make(chan string, 1)
	u := &upstream{Server: httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		saw <- r.Header.Get("CDN-Loop")
		_, _ = io.WriteString(w, `{"id":"1"}`)
	}))}
	t.Cleanup(u.Close)
	p := serveWith(t, map[string]string{"SUNDRY_LOOP_ID": "shop-1"}, "--catalog", catalogDir(t, u, "ttl: 1m"))
	mustGet(t, p.public+"/api/own?id=1")
	if got := <-saw; got != "sundry-shop-1" {
		t.Errorf("CDN-Loop: %q", got)
	}
}
