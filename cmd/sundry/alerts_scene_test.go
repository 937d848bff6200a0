//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
)

// origin is an upstream on loopback, whose trouble the test decides.
type origin struct {
	*httptest.Server
	calls, takes atomic.Int64
	failOneIn    atomic.Int64 // 0 means that none fails
	body         atomic.Pointer[string]
}

func newOrigin(t *testing.T) *origin {
	t.Helper()
	o := &origin{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := o.calls.Add(1)
		select {
		case <-time.After(time.Duration(o.takes.Load())):
		case <-r.Context().Done():
			return
		}
		if every := o.failOneIn.Load(); every > 0 && n%every == 0 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if body := o.body.Load(); body != nil {
			_, _ = io.WriteString(w, *body)
			return
		}
		_, _ = fmt.Fprintf(w, `{"id":%q}`, r.URL.Query().Get("id"))
	}))
	t.Cleanup(o.Close)
	return o
}

// host is the name under which its breaker is known.
func (o *origin) host() string { return strings.TrimPrefix(o.URL, "http://") }

// source is that of a catalog file that calls the origin.
func (o *origin) source(name, more string) string {
	return fmt.Sprintf(`{name: %s, %stimeout: 5s, http: {url: "%s/", query: {id: "{id}"}}}`, name, more, o.URL)
}

// unwarmed is a configuration without endpoints of the program, and without limits that the clients of a
// test, who have one address, would reach.
const unwarmed = "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n"

// catalog is a directory with the endpoint own, with this rule and these sources.
func (s *scene) catalog(rule string, sources ...string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	writeSources(s.t, dir, "own", rule, "sources: ["+strings.Join(sources, ", ")+"]\n")
	return dir
}

// launch starts an instance in this process, which is scraped.
func (s *scene) launch(config string, args ...string) *instance {
	s.t.Helper()
	return s.launchWith(&process{}, config, args...)
}

// launchWith is launch with more of a process.
func (s *scene) launchWith(w *process, config string, args ...string) *instance {
	s.t.Helper()
	if !strings.Contains(config, "endpoints:") {
		config += only()
	}
	return s.launchFile(w, write(s.t, s.t.TempDir(), "scene.yaml", config), args...)
}

// launchFile is launchWith with a configuration file.
func (s *scene) launchFile(w *process, file string, args ...string) *instance {
	s.t.Helper()
	w.getenv = func(name string) (string, bool) {
		value, ok := map[string]string{"SUNDRY_ADMIN_TOKEN": adminToken, "SUNDRY_DRAIN_DELAY": "0s"}[name]
		return value, ok
	}
	p := launch(s.t, w, append([]string{"--config", file}, args...)...)
	s.scrapes(p.admin)
	return p
}

// program starts an instance in a process of its own, which is scraped.
func (s *scene) program(env []string, args ...string) *sibling {
	s.t.Helper()
	m := startProgram(s.t, env, append([]string{"--config", write(s.t, s.t.TempDir(), "scene.yaml", unwarmed+only())}, args...)...)
	s.scrapes(m.admin)
	return m
}

// scrapes adds a target, unless it is one: an instance that starts again has its address again.
func (s *scene) scrapes(admin string) {
	target := strings.TrimPrefix(admin, "http://")
	if !slices.Contains(s.targets, target) {
		s.targets = append(s.targets, target)
	}
}

// shortBreakers has breakers open for a second, so that an alert is resolved once its cause has ended.
func shortBreakers(env *upstreams.Environment) {
	env.Hosts.Config.Open, env.Hosts.Config.OpenMax = time.Second, 2*time.Second
}

// load makes requests at a pace, until it is stopped or the scene ends. The addresses are those of url, called with the
// number of the request; "" means none.
func (s *scene) load(every time.Duration, url func(n int) string) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	client := &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	s.busy.Go(func() {
		defer client.CloseIdleConnections()
		tick := time.NewTicker(every)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if address := url(n); address != "" {
					s.busy.Go(func() { fetchWith(ctx, client, address) })
				}
			}
		}
	})
	return cancel
}

// fetchWith makes a request, whatever becomes of it.
func fetchWith(ctx context.Context, client *http.Client, url string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	if resp, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

// eachID is the addresses of own with a different id for each request.
func eachID(p *instance) func(n int) string {
	return func(n int) string { return fmt.Sprintf("%s/api/own?id=%d", p.public, n) }
}

// oneID is the address of own with the same id for each request.
func oneID(p *instance) func(n int) string {
	return func(int) string { return p.public + "/api/own?id=1" }
}

// requests is a condition: so many requests were counted.
func (s *scene) requests(least int) func() bool {
	return func() bool {
		n, ok := s.watch.number(fmt.Sprintf(`sum(sundry_requests_total{job=%q})`, s.job))
		return ok && n >= float64(least)
	}
}

// order calls the admin API of an instance with the token, whatever the status.
func (s *scene) order(p *instance, method, path, body string) int {
	r, err := http.NewRequestWithContext(s.ctx, method, p.admin+"/admin/api/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}
