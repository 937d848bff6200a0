package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"sundry/upstreams"
)

// TestRateLimitFields: answers have the RateLimit fields if few or no requests
// remain, and only then.
func TestRateLimitFields(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.01, Burst: 5} })
	for i, row := range []struct {
		status int
		limit  string
	}{{200, ""}, {200, ""}, {200, ""}, {200, `"default";r=1;t=`}, {200, `"default";r=0;t=`}, {429, `"default";r=0;t=`}} {
		a := f.get("/api/simple")
		a.want(t, row.status)
		got := a.Header.Get("RateLimit")
		if row.limit == "" && got != "" || !strings.HasPrefix(got, row.limit) {
			t.Errorf("request %d: RateLimit: %q, want %q", i, got, row.limit)
		}
		if got == "" {
			continue
		}
		a.header(t, "RateLimit-Policy", `"default";q=5;w=500`)
		if after := a.Header.Get("Retry-After"); row.status == http.StatusTooManyRequests && !strings.HasSuffix(got, ";t="+after) {
			t.Errorf("RateLimit: %q, Retry-After: %q: not the same time", got, after)
		}
	}
}

// TestRateLimitFieldsOfOtherAnswers: errors and preflights have them too.
func TestRateLimitFieldsOfOtherAnswers(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.001, Burst: 10} })
	for range 7 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
	for i, a := range []answer{
		f.get("/api/simple?id=x"), f.do(t.Context(), http.MethodOptions, "/api/simple"), f.do(t.Context(), http.MethodHead, "/api/simple"),
	} {
		a.header(t, "RateLimit", fmt.Sprintf(`"default";r=%d;t=`, 2-i))
		a.header(t, "RateLimit-Policy", `"default";q=10;w=`)
	}
}

// TestRateLimitBehindProxies: clients behind a trusted proxy are limited each on
// their own, the proxy is not; one that is not trusted is named in the log.
func TestRateLimitBehindProxies(t *testing.T) {
	up, logged := newFake(t, `{"v":"x"}`), &lines{}
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits, c.Log = Limits{Rate: 0.01, Burst: 1}, slog.New(slog.NewTextHandler(logged, nil))
	})
	for range 3 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
	for _, who := range []string{"198.51.100.1", "198.51.100.2"} {
		f.get("/api/simple", "X-Forwarded-For", who).want(t, http.StatusOK)
		f.get("/api/simple", "X-Forwarded-For", who).want(t, http.StatusTooManyRequests)
	}
	const hint = "looks like a proxy"
	if text := logged.String(); strings.Contains(text, hint) {
		t.Error("the log warns of a trusted proxy")
	}
	if err := f.server.Reload(f.server.Catalog(), Settings{Limits: Limits{Rate: 0.02, Burst: 1}}); err != nil {
		t.Fatal(err)
	}
	f.get("/api/simple", "X-Forwarded-For", "198.51.100.1").want(t, http.StatusOK)
	for i := range 6 {
		f.get("/api/simple", "X-Forwarded-For", fmt.Sprint("198.51.100.", 2+i%3)).want(t, http.StatusTooManyRequests)
	}
	if n := strings.Count(logged.String(), hint); n != 1 {
		t.Errorf("a proxy that is not trusted is named %d times", n)
	}
}
