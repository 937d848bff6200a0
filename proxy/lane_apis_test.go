package proxy

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/proxy/express"
	"sundry/upstreams"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// varied is an API whose responses differ in all that a head may have.
func varied(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", `max-age=600, no-cache="X-Once"`)
	h.Set("X-Once", "for one alone")
	h["X-Lines"] = []string{" one ", "two"}
	h.Set("Via", "1.0 inner")
	h.Set("Cache-Status", "inner; hit")
	status := http.StatusOK
	switch r.URL.Path {
	case "/varies":
		h.Set("Vary", "Accept-Encoding, Accept-Language")
		h.Set("Etag", `"v"`)
	case "/x-varies":
		h.Set("Vary", "X-Other")
	case "/untyped":
		h["Content-Type"] = nil
	case "/undated":
		h["Date"] = nil
	case "/missing":
		status = http.StatusNotFound
	case "/empty":
		status = http.StatusNoContent
	case "/odd":
		status = 299
	case "/counted": // which net/http leaves out, and others do not
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nCache-Control: max-age=600\r\nContent-Length: 0\r\n\r\n")
		_ = conn.Close()
		return
	case "/large":
		w.WriteHeader(status)
		_, _ = w.Write(make([]byte, 100<<10))
		return
	}
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_, _ = fmt.Fprintf(w, "%s in %q", r.URL, r.Header["Accept-Encoding"])
	}
}

// TestAnAPIThatHangs takes its share of the places, and no more: other endpoints are answered.
func TestAnAPIThatHangs(t *testing.T) {
	hang := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 0s", up), "api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, ofMany, func(c *Config, _ *upstreams.Environment) {
		c.Limits, c.Store, c.Dial = Limits{InFlight: 4}, store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(f.server.CloseIdle)
	var all sync.WaitGroup
	defer all.Wait()
	defer close(hang)
	for i := range 2 {
		all.Go(func() { f.get(fmt.Sprint("/api/api/", i)).want(t, http.StatusOK) })
	}
	waittest.Until(t, "two to wait", func() bool { waiting, _ := f.server.admission.count(); return waiting == 2 })
	f.get("/api/simple").want(t, http.StatusOK)
	a := f.get("/api/api/0")
	a.want(t, http.StatusServiceUnavailable, `"type":"overloaded","request_id":"`)
	a.header(t, "Sundry-Error", "overloaded")
	a.header(t, "Retry-After", "10")
}

// TestAnAnswerThatCannotWait is refused before it begins, by endpoints and by APIs, where too many others are not read yet. One that is
// read by somebody already takes no more memory.
func TestAnAnswerThatCannotWait(t *testing.T) {
	large := strings.Repeat("x", 200<<10)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, large)
	}))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	unsent := express.NewUnsent(1 << 20)
	up := newFake(t, `{"v":"`+large+`"}`)
	withoutRedirect := strings.Replace(simple("ttl: 1h", up), "  - {name: goto, redirect: '\"https://example.org/\" + .v'}\n", "", 1)
	f := newFront(t, map[string]string{"simple": withoutRedirect, "api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.Unsent, c.Store, c.Dial = unsent, store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(f.server.CloseIdle)
	paths := []string{"/api/api/x", "/api/simple?type=text"}
	for _, path := range paths {
		f.get(path).want(t, http.StatusOK)
	}
	others := [][]byte{make([]byte, 512<<10), make([]byte, 500<<10)}
	for _, body := range others {
		waittest.Until(t, "what was read gives its room", func() bool { return unsent.Hold(clients.Nobody, body) == nil })
	}
	for _, path := range paths {
		a := f.get(path)
		a.want(t, http.StatusServiceUnavailable, "尚未读取的大响应太多")
		a.header(t, "Retry-After", "")
		f.do(t.Context(), http.MethodHead, path).want(t, http.StatusOK)
		f.get(path, "If-None-Match", "*").want(t, http.StatusNotModified)
	}
	unsent.Release(clients.Nobody, others[0])
	for _, path := range paths {
		f.get(path).want(t, http.StatusOK)
	}
}

// TestAPIsAreBelowTheBasePath alone, like endpoints: elsewhere their own path would be taken for one of the origin's.
func TestAPIsAreBelowTheBasePath(t *testing.T) {
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.RequestURI) }))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	f := newFront(t, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.BasePath, c.Store, c.Dial = "/tools", store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(f.server.CloseIdle)
	if a := f.get("/tools/api/api/x"); a.body != "/x" {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	f.get("/api/api/x").want(t, http.StatusNotFound)
	if name, _, ok := f.server.APIOf(httptest.NewRequest("PURGE", "/api/api/x", nil)); ok {
		t.Errorf("a purge is about %s", name)
	}
}

// TestLinesOfAPIsAreShort, whatever an origin sends: they quote nothing of it, which may be what a client has sent.
func TestLinesOfAPIsAreShort(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+strings.Repeat("no field ", 10_000)+"\r\n\r\n")
		_ = conn.Close()
	}))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	f := newFront(t, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
		c.Log = slog.New(slog.NewTextHandler(&lines, nil))
	})
	t.Cleanup(f.server.CloseIdle)
	f.get("/api/api/"+strings.Repeat("x", 10_000)).want(t, http.StatusBadGateway)
	f.Close() // the line is written by then
	if n := lines.Len(); n > 1500 || !strings.Contains(lines.String(), "malformed MIME header") || strings.Contains(lines.String(), "no field") {
		t.Errorf("%d bytes: %.2000s", n, lines.String())
	}
}

// TestLaneAnswersForAPIsAsNetHTTPDoes: below a path and by a Host name, with every field that matters.
func TestLaneAnswersForAPIsAsNetHTTPDoes(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	for name, trusted := range map[string]string{"behind a proxy": "127.0.0.0/8", "alone": "192.0.2.0/24"} {
		t.Run(name, func(t *testing.T) { lanesAgreeOnAPIs(t, trusted) })
	}
}

func lanesAgreeOnAPIs(t *testing.T, trusted string) {
	origin := httptest.NewServer(http.HandlerFunc(varied))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	file := "version: 1\nname: %s\nproxy: {to: '" + origin.URL + "'%s}\n"
	w := newTwoWays(t, map[string]string{"below": fmt.Sprintf(file, "below", ""), "host": fmt.Sprintf(file, "host", ", hosts: [api.example]"),
		"sorted": fmt.Sprintf(file, "sorted", ", cache: {sort: true}")}, trusting(trusted), func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(w.server.CloseIdle)
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	requests, combinations := 0, 0
	for _, at := range []string{"a.example /api/below", "API.example:80 ", "[::1]:80 /api/below", "a.example /api/sorted"} {
		host, prefix, _ := strings.Cut(at, " ")
		for _, path := range []string{"/", "/?", "/?b=1&a=2", "/varies", "/x-varies", "/untyped", "/undated", "/missing", "/empty", "/counted", "/odd", "/large", "/a[b]", "/%61", "//x", "/a/../b", "/api/ip"} {
			for _, lines := range append(headersOfRequests(`"v"`), "Cache-Control: max-age=0\r\n", "Cache-Control: only-if-cached\r\n", "Pragma: no-cache\r\n", "Authorization: Basic x\r\n",
				"If-Modified-Since: Sat, 29 Oct 2044 19:43:31 GMT\r\n", "If-Match: \"v\"\r\n", "X-Other: 1\r\n", "X-Forwarded-Proto: https\r\n", "X-Original-Url: /x\r\nX-Forwarded-Host: b.example\r\n", "X-Http-Method-Override: DELETE\r\n", "Accept: text/html;q=0.5\r\n") {
				if combinations++; combinations%longtest.Every(4) != 0 {
					continue
				}
				for _, method := range []string{"GET", "HEAD"} {
					request := method + " " + prefix + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + lines + "\r\n"
					plain.ask(t, "GET"+strings.TrimPrefix(request, method)) // now it lies ready
					w.compare(t, lane, plain, request)
					requests++
				}
			}
		}
	}
	answered := w.counted(t, "sundry_express_requests_total")[`result="answered"`]
	if answered < float64(requests)/4 {
		t.Errorf("of %d requests, the lane answered %v: that tests little", requests, answered)
	}
	if hits := w.counted(t, "sundry_requests_total")[`class="2xx",endpoint="below",outcome="hit"`]; hits < float64(requests)/4 {
		t.Errorf("%v hits are counted", hits)
	}
}

// TestLaneAnswersWithTheNewest response that a request selects, also where it cannot tell whether one does: an older one that it knows
// may still be fresh.
func TestLaneAnswersWithTheNewest(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		n := calls.Add(1)
		if n > 1 { // it was deployed anew
			w.Header().Set("Vary", "X-Tenant")
		}
		_, _ = fmt.Fprintf(w, "version %d", n)
	}))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	w := newTwoWays(t, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(w.server.CloseIdle)
	lane, plain := dial(t, w.lane), dial(t, w.plain)
	const request = "GET /api/api/x HTTP/1.1\r\nHost: a\r\n"
	plain.ask(t, request+"\r\n")
	plain.ask(t, request+"Cache-Control: no-cache\r\n\r\n")
	if got := lane.ask(t, request+"\r\n"); !strings.HasSuffix(got, "version 2") {
		t.Errorf("%s", got)
	}
	w.compare(t, lane, plain, request+"\r\n")
}

// TestLaneKeepsDefaultsFromCredentials: what is fresh by a default alone is for requests without credentials, also where the lane answers.
func TestLaneKeepsDefaultsFromCredentials(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "for ", r.Header.Get("Cookie"), r.Header.Get("X-Api-Key"), r.Header.Get("X-Auth-Token"))
	}))
	defer origin.Close()
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	file := "version: 1\nname: %s\nproxy: {to: '" + origin.URL + "', cache: {default: {200: 10m}%s}%s}\n"
	w := newTwoWays(t, map[string]string{"api": fmt.Sprintf(file, "api", "", ""), "shared": fmt.Sprintf(file, "shared", ", credentials: shared", ""),
		"without": fmt.Sprintf(file, "without", "", ", request: {remove: [cookie], set: {X-Api-Key: x, x-auth-token: y}}")}, func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	t.Cleanup(w.server.CloseIdle)
	lane := dial(t, w.lane)
	for api, want := range map[string]string{"api": "for ann", "shared": "for ", "without": "for xy"} {
		request := "GET /api/" + api + "/x HTTP/1.1\r\nHost: a\r\n"
		lane.ask(t, request+"\r\n")
		for _, field := range []string{"Cookie", "X-Api-Key", "X-Auth-Token"} {
			if got := lane.ask(t, request+field+": ann\r\n\r\n"); !strings.HasSuffix(got, "\r\n\r\n"+want) {
				t.Errorf("%s: %s", api, got)
			}
		}
	}
	if n := w.counted(t, "sundry_express_requests_total")[`result="answered"`]; n != 6 {
		t.Errorf("the lane has answered %v requests", n)
	}
}
