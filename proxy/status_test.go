package proxy

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/proxy/site/status"
	"sundry/upstreams/host"
)

// publicStatus is what /status.json tells.
type publicStatus struct {
	Trouble   int
	Endpoints map[string]struct {
		State string
		Day   *struct{ Works, Stale, Failing float64 }
		Bars  map[string][]*int
	}
}

// publicStatus reads the status, which is never that of a moment ago.
func (f *front) publicStatus() (s publicStatus) {
	f.t.Helper()
	f.server.status.every = 0
	a := f.get("/status.json")
	a.want(f.t, http.StatusOK)
	if err := json.Unmarshal([]byte(a.body), &s); err != nil {
		f.t.Fatalf("%v: %s", err, a.body)
	}
	return s
}

// TestAFailingSourceShowsInTheStatus: unknown, then works, then failing, as callers see
// it; and the public is not told why.
func TestAFailingSourceShowsInTheStatus(t *testing.T) {
	up := newFake(t, `{"v":"one"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", up)}).withBuiltins("60s", "ip")
	if got := f.publicStatus().Endpoints["simple"]; got.State != "unknown" || got.Day != nil || len(got.Bars["works"]) != 48 {
		t.Errorf("nobody has asked: %+v", got)
	}
	f.get("/api/simple").want(t, http.StatusOK)
	if got := f.publicStatus().Endpoints["simple"]; got.State != "works" || got.Day.Works != 100 {
		t.Errorf("it works: %+v", got)
	}
	up.status.Store(http.StatusInternalServerError)
	f.get("/api/simple?id=2").want(t, http.StatusBadGateway)
	s := f.publicStatus()
	got := s.Endpoints["simple"]
	if got.State != "failing" || s.Trouble != 1 || got.Day.Failing != 50 {
		t.Errorf("it fails: %+v", got)
	}
	failed := slices.DeleteFunc(got.Bars["failing"], func(v *int) bool { return v == nil || *v == 0 })
	if len(failed) == 0 || len(failed) > 2 { // of two half hours, if one ended meanwhile
		t.Errorf("%d bars show the failure", len(failed))
	}
	english := f.get("/status?lang=en")
	english.want(t, http.StatusOK, "0 of 1 endpoints work", `<li data-live id="at-simple">`, `<path class="failing"`)
	english.header(t, "Cache-Control", "no-store")
	chinese := f.get("/status/")
	chinese.want(t, http.StatusOK, "1 个接口中 0 个正常")
	chinese.header(t, "Cache-Control", "public, max-age=15")
	chinese.header(t, "Vary", "Accept-Language")
	chinese.header(t, "Content-Security-Policy", "default-src 'none'")
	feed := f.get("/status.atom?lang=en")
	feed.want(t, http.StatusOK, `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">`)
	feed.header(t, "Content-Type", "application/atom+xml")
	f.get("/status.atom", "Accept-Language", "zh").header(t, "Vary", "Accept-Language")
	a := f.get("/status.json")
	for _, secret := range []string{"127.0.0.1", "first", "500", "host"} {
		if strings.Contains(a.body, secret) {
			t.Errorf("the status holds %q: %s", secret, a.body)
		}
	}
	a.header(t, "Access-Control-Allow-Origin", "*")
	a.header(t, "Cache-Control", "max-age=15")
	a.header(t, "Content-Type", "application/json")
	f.get("/status.json", "If-None-Match", a.Header.Get("Etag"))
	now := f.get("/status/now.json")
	now.want(t, http.StatusOK, `"trouble":1`, `"simple":{"state":"failing"}`)
	now.header(t, "Cache-Control", "max-age=15")
	if len(now.body) > 256 {
		t.Errorf("the present of three endpoints takes %d bytes: %s", len(now.body), now.body)
	}
}

// TestOpenBreakersShowInTheStatus: also where nobody asks.
func TestOpenBreakersShowInTheStatus(t *testing.T) {
	up := newFake(t, `{"v":"one"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", up)})
	for _, h := range f.env.Hosts.All() {
		if strings.Contains(up.URL, h.Name) {
			h.Force(host.ForceOpen)
		}
	}
	if got := f.publicStatus().Endpoints["simple"]; got.State != "failing" || got.Day != nil {
		t.Errorf("%+v", got)
	}
}

// TestBreakersOfStepsShowInTheStatus: all that a source calls may be in the steps before it.
func TestBreakersOfStepsShowInTheStatus(t *testing.T) {
	f := newFront(t, nil).withBuiltins("kd")
	kd, _ := f.server.Catalog().Get("kd")
	var hosts []*host.Host
	for _, s := range kd.Sources() {
		hosts = append(hosts, s.Hosts()...)
	}
	for i, h := range hosts {
		if got := f.publicStatus().Endpoints["kd"]; got.State != "unknown" {
			t.Errorf("after %d of %d: %+v", i, len(hosts), got)
		}
		h.Force(host.ForceOpen)
	}
	if got := f.publicStatus().Endpoints["kd"]; got.State != "failing" {
		t.Errorf("%+v", got)
	}
}

// TestTheStatusIsMadeOnceInAWhile: however many ask.
func TestTheStatusIsMadeOnceInAWhile(t *testing.T) {
	f := newFront(t, map[string]string{"simple": simple("ttl: 1m", newFake(t, `{"v":"one"}`))})
	now, reports := time.Now(), make([]*status.Report, 100)
	var asking sync.WaitGroup
	for i := range reports {
		asking.Go(func() { reports[i] = f.server.statusAt(now) })
	}
	asking.Wait()
	for _, r := range reports {
		if r != reports[0] {
			t.Fatal("it was made more than once")
		}
	}
	if later := f.server.statusAt(now.Add(statusEvery)); later == reports[0] {
		t.Error("it was not made again")
	}
	before := f.server.statusAt(now)
	f.load(nil)
	if f.server.statusAt(now) == before {
		t.Error("after a reload it is the one of before")
	}
}
