package proxy

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/web"
	"sundry/upstreams"
)

// limitedAPI is an API behind a front with a rate limit of ten requests that are not restored in a test. The fields X-Forwarded-For
// of requests name the clients.
type limitedAPI struct {
	*twoWays
	calls  atomic.Int64
	logged lines
}

func newLimitedAPI(t *testing.T) *limitedAPI {
	t.Helper()
	a := &limitedAPI{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.calls.Add(1)
		w.Header().Set("Cache-Control", "max-age=600")
		if r.URL.Path == "/old" {
			w.Header().Set("Cache-Control", "max-age=0, stale-if-error=600")
		}
		w.Header().Set("Etag", `"v"`)
		_, _ = fmt.Fprint(w, "this is ", r.URL.Path)
	}))
	t.Cleanup(origin.Close)
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	a.twoWays = newTwoWays(t, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
		c.Limits = Limits{Rate: 0.001, Burst: 10}
		c.Log = slog.New(slog.NewTextHandler(&a.logged, nil))
	})
	t.Cleanup(a.server.CloseIdle)
	return a
}

// ask sends a request of a client, with more fields, each with its line end, and returns the response.
func (a *limitedAPI) ask(t *testing.T, w *wire, client, method, path, fields string) string {
	t.Helper()
	return w.ask(t, method+" /api/api"+path+" HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: "+client+"\r\n"+fields+"\r\n")
}

// fill stores responses to so many paths, each ten requested by another client.
func (a *limitedAPI) fill(t *testing.T, paths int) {
	t.Helper()
	w := dial(t, a.plain)
	for i := range paths {
		if got := a.ask(t, w, fmt.Sprint("198.51.100.", i/10), "GET", fmt.Sprint("/", i), ""); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
			t.Fatal(got)
		}
	}
}

// wantStatus requires a status.
func wantStatus(t *testing.T, response string, want int) {
	t.Helper()
	if !strings.HasPrefix(response, fmt.Sprintf("HTTP/1.1 %d ", want)) {
		t.Errorf("want %d: %s", want, response)
	}
}

// TestHitsOfAPIsAreNotLimited: a page of 300 stored files is for one client, in the lane and outside of it, which has all of its
// limit left afterwards.
func TestHitsOfAPIsAreNotLimited(t *testing.T) {
	t.Parallel()
	a := newLimitedAPI(t)
	a.fill(t, 300)
	for client, address := range map[string]string{"203.0.113.1": a.lane, "203.0.113.2": a.plain} {
		w := dial(t, address)
		page := func() {
			for i := range 300 {
				wantStatus(t, a.ask(t, w, client, "GET", fmt.Sprint("/", i), ""), http.StatusOK)
			}
			wantStatus(t, a.ask(t, w, client, "HEAD", "/0", ""), http.StatusOK)
			wantStatus(t, a.ask(t, w, client, "GET", "/0", "If-None-Match: \"v\"\r\n"), http.StatusNotModified)
			wantStatus(t, a.ask(t, w, client, "GET", "/0", "Range: bytes=0-3\r\n"), http.StatusPartialContent)
		}
		page()
		for i := range 10 {
			wantStatus(t, a.ask(t, w, client, "GET", fmt.Sprint("/", client, i), ""), http.StatusOK)
		}
		refused := a.ask(t, w, client, "GET", "/"+client, "")
		wantStatus(t, refused, http.StatusTooManyRequests)
		for _, field := range []string{"\r\nRetry-After: ", "\r\nRatelimit: \"default\";r=0;t=", "\r\nRatelimit-Policy: \"default\";q=10;w=", "\r\nX-Request-Id: ", `"type":"rate_limited"`} {
			if !strings.Contains(refused, field) {
				t.Errorf("no %q in %s", field, refused)
			}
		}
		page()
	}
	if n := a.calls.Load(); n != 320 {
		t.Errorf("the origin is asked %d times", n)
	}
	if n := a.counted(t, "sundry_express_requests_total")[`result="answered"`]; n < 500 {
		t.Errorf("the lane answers %v requests: that tests little", n)
	}
	if n := a.counted(t, "sundry_requests_total")[`class="4xx",endpoint="api",outcome="limited"`]; n != 2 {
		t.Errorf("%v refusals are counted", n)
	}
	if n := a.counted(t, "sundry_rate_limited_total")[""]; n != 2 {
		t.Errorf("%v refusals are counted by the limiter", n)
	}
}

// TestWhatNeedsTheOriginIsLimited, and so is what this service refuses itself, because each such request is a line in the log.
func TestWhatNeedsTheOriginIsLimited(t *testing.T) {
	t.Parallel()
	for name, request := range map[string]string{
		"unsafe": "POST /0 Content-Length: 0\r\n", "purge": "PURGE /0 ", "head": "HEAD /absent ",
		"precondition": "GET /0 If-Match: \"v\"\r\n", "upgrade": "GET /0 Connection: upgrade\r\nUpgrade: websocket\r\n", "trace": "TRACE /0 ",
		"outside": "GET /a/%2e%2e/b ", "no more": "GET /absent Cache-Control: only-if-cached\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newLimitedAPI(t)
			a.fill(t, 1)
			w := dial(t, a.lane)
			for i := range 12 {
				method, rest, _ := strings.Cut(request, " ")
				path, fields, _ := strings.Cut(rest, " ")
				got := a.ask(t, w, "203.0.113.1", method, path, fields)
				if limited := strings.HasPrefix(got, "HTTP/1.1 429 "); limited != (i >= 10) {
					t.Fatalf("request %d: %s", i, got)
				}
			}
			if n := strings.Count(a.logged.String(), "outcome=limited"); n < 1 || n > 2 {
				t.Errorf("%d lines are about refusals", n)
			}
		})
	}
}

// TestStandInsOverTheLimitAreSampledInTheLog, because a client may get as many as it likes. They are no refusals.
func TestStandInsOverTheLimitAreSampledInTheLog(t *testing.T) {
	t.Parallel()
	a := newLimitedAPI(t)
	w := dial(t, a.lane)
	for range 100 {
		wantStatus(t, a.ask(t, w, "203.0.113.1", "GET", "/old", ""), http.StatusOK)
	}
	if n := a.calls.Load(); n != 10 {
		t.Errorf("the origin is asked %d times", n)
	}
	if n := strings.Count(a.logged.String(), "outcome=stale_error"); n < 1 || n > 20 {
		t.Errorf("%d lines are about stand-ins", n)
	}
	if n := a.counted(t, "sundry_rate_limited_total")[""]; n != 0 {
		t.Errorf("%v refusals are counted", n)
	}
}

// TestALargeUploadIsAnError in the format of the other errors, in both languages.
func TestALargeUploadIsAnError(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the origin is asked") }))
	t.Cleanup(origin.Close)
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		t.Fatal(err)
	}
	f := newFront(t, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "', upload: {most: 1KiB}}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	for language, want := range map[string]string{"en": "the body of the request is too large; expected at most 1024 bytes", "zh": "请求体过大；最多 1024 字节"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL+"/api/api/x", strings.NewReader(strings.Repeat("x", 1025)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Language", language)
		resp, err := f.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		told, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(told), want) || !strings.Contains(string(told), typeInvalid) {
			t.Errorf("%s: %d %s, %v", language, resp.StatusCode, told, err)
		}
	}
}
