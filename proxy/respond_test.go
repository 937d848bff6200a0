package proxy

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/upstreams/catalog"
)

// TestLifetime: max-age minus Age is the time that remains (RFC 9111, 4.2).
func TestLifetime(t *testing.T) {
	born := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e := &catalog.Endpoint{Forms: []*catalog.Form{{}}, Policy: policy.Policy{Grace: 20 * time.Second, StaleIfError: time.Minute}}
	for _, r := range []struct {
		name      string
		age, left time.Duration
		private   bool
		expires   time.Duration // after its creation; 0: never
		want      string
	}{
		{"just filled", 0, 30 * time.Second, false, 0, "public, max-age=30, stale-while-revalidate=20, stale-if-error=60"},
		{"a moment later", 300 * time.Millisecond, 29700 * time.Millisecond, false, 0, "public, max-age=29, stale-while-revalidate=20, stale-if-error=60"},
		{"half way", 18500 * time.Millisecond, 11500 * time.Millisecond, false, 0, "public, max-age=29, stale-while-revalidate=20, stale-if-error=60"},
		{"the last second", 29500 * time.Millisecond, 500 * time.Millisecond, false, 0, "public, max-age=29, stale-while-revalidate=20, stale-if-error=60"},
		{"stale", 35 * time.Second, -5 * time.Second, false, 0, "public, max-age=30, stale-while-revalidate=20, stale-if-error=60"},
		{"stale by less than a second", 30500 * time.Millisecond, -500 * time.Millisecond, false, 0, "public, max-age=30, stale-while-revalidate=20, stale-if-error=60"},
		{"of a caller", 100 * time.Second, time.Hour, true, 0, "private, max-age=160"},
		{"of a caller, at its end", 100 * time.Second, 5 * time.Second, true, 0, "private, max-age=105"},
		{"of a caller, stale", 100 * time.Second, -5 * time.Second, true, 0, "private, max-age=95"},
		{"with an end", 10 * time.Second, 20 * time.Second, false, 35 * time.Second, "public, max-age=30, stale-while-revalidate=5, stale-if-error=5"},
		{"with an end that is its freshness's", 10 * time.Second, 20 * time.Second, false, 30 * time.Second, "public, max-age=30"},
		{"born ahead of this clock", 0, 31 * time.Second, false, 0, "public, max-age=31, stale-while-revalidate=20, stale-if-error=60"},
		{"purged before it was a second old", 5 * time.Second, -5 * time.Second, false, 0, "public, max-age=0, stale-while-revalidate=20, stale-if-error=60"},
	} {
		t.Run(r.name, func(t *testing.T) {
			in, _ := e.Parse("", catalog.Caller{})
			in.Private = r.private
			answer := &cache.Answer{State: policy.Fresh, Age: r.age, Left: r.left, Meta: entry.Meta{Created: born}}
			if r.expires > 0 {
				answer.Meta.Expires = born.Add(r.expires)
			}
			if got := string(appendCacheControl(nil, &in, answer)); got != r.want {
				t.Errorf("%s, want %s", got, r.want)
			}
		})
	}
}

// kept reads the headers for downstream caches.
func (a answer) kept(t *testing.T) (scope string, maxAge, age int) {
	t.Helper()
	if _, err := fmt.Sscanf(a.Header.Get("Cache-Control"), "%s max-age=%d", &scope, &maxAge); err != nil {
		t.Fatalf("%d %s: %v", a.StatusCode, a.Header.Get("Cache-Control"), err)
	}
	age, err := strconv.Atoi(a.Header.Get("Age"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(scope, ","), maxAge, age
}

// saysNo is simple with sources whose 404 is a negative answer.
func saysNo(cacheRule string, sources ...*fake) string {
	return strings.ReplaceAll(simple(cacheRule, sources...), `query: {id: "{id}"}}}`, `query: {id: "{id}"}}, judge: [{status: [404], is: negative}]}`)
}

var statusTTL = regexp.MustCompile(`; ttl=(-?\d+)`)

// TestMaxAgeMinusAgeIsWhatRemains: in every answer that may be stored, max-age minus
// Age is the ttl of Cache-Status.
func TestMaxAgeMinusAgeIsWhatRemains(t *testing.T) {
	t.Parallel()
	longtest.NotShort(t, "it takes a second")
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": saysNo("ttl: 1h, jitter: 0, negative: 5m, stale_if_error: 1h", up)})
	check := func(a answer, lifetime int) {
		t.Helper()
		_, maxAge, age := a.kept(t)
		m := statusTTL.FindStringSubmatch(a.Header.Get("Cache-Status"))
		if m == nil || strconv.Itoa(maxAge-age) != m[1] {
			t.Errorf("%d: Cache-Control %s, Age %d, Cache-Status %s", a.StatusCode, a.Header.Get("Cache-Control"), age, a.Header.Get("Cache-Status"))
		}
		if maxAge > lifetime || maxAge < lifetime-1 {
			t.Errorf("max-age=%d, want the lifetime of %d", maxAge, lifetime)
		}
	}
	first := f.get("/api/simple")
	check(first, 3600)
	waittest.Until(t, "an age", func() bool { return f.get("/api/simple").Header.Get("Age") != "0" })
	check(f.get("/api/simple"), 3600)
	check(f.do(t.Context(), http.MethodHead, "/api/simple"), 3600)
	notModified := f.get("/api/simple", "If-None-Match", first.Header.Get("Etag"))
	if notModified.StatusCode != http.StatusNotModified {
		t.Errorf("%d", notModified.StatusCode)
	}
	check(notModified, 3600)
	f.load(map[string]string{"simple": saysNo("ttl: 2h, jitter: 0, negative: 5m", up)})
	check(f.get("/api/simple"), 7200)
	up.status.Store(http.StatusNotFound)
	check(f.get("/api/simple?id=2"), 300)
	waittest.Until(t, "an age of the no", func() bool { return f.get("/api/simple?id=2").Header.Get("Age") != "0" })
	check(f.get("/api/simple?id=2"), 300)
}

// TestNegativeAnswersForTheCallersAddressArePrivate: another client may get another answer.
func TestNegativeAnswersForTheCallersAddressArePrivate(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	up.status.Store(http.StatusNotFound)
	text := strings.Replace(saysNo("ttl: 1h, jitter: 0, negative: 5m", up), `{name: id, type: int, min: 1, max: 1000, default: "1", example: "7"}`,
		`{name: id, type: ip, from: caller, example: "192.0.2.1"}`, 1)
	f := newFront(t, map[string]string{"simple": text})
	for path, want := range map[string]string{"/api/simple": "private", "/api/simple?id=192.0.2.1": "public", "/api/simple?type=goto": "private"} {
		for range 2 {
			a := f.get(path)
			a.want(t, http.StatusNotFound)
			if scope, maxAge, age := a.kept(t); scope != want || want == "private" && maxAge-age > 60 {
				t.Errorf("%s: %s", path, a.Header.Get("Cache-Control"))
			}
		}
	}
	f.get("/api/simple?callback=cb&id=192.0.2.1").header(t, "Cache-Control", "public") // it has none
}

func TestCacheStatus(t *testing.T) {
	for want, answer := range map[string]cache.Answer{
		"sundry; fwd=bypass":                                       {},
		"sundry; fwd=bypass; sundry-last-resort":                   {Meta: entry.Meta{LastResort: true}},
		"sundry; hit; ttl=9; detail=memory":                        {State: policy.Fresh, Tier: cache.Near, Left: 9900 * time.Millisecond},
		"sundry; hit; ttl=-9; detail=redis":                        {State: policy.Grace, Tier: cache.Far, Left: -9900 * time.Millisecond},
		"sundry; hit; ttl=9; detail=memory; sundry-last-resort":    {State: policy.Fresh, Tier: cache.Near, Left: 9 * time.Second, Meta: entry.Meta{LastResort: true}},
		"sundry; fwd=uri-miss; stored; ttl=9":                      {State: policy.Fresh, Stored: true, Left: 9 * time.Second},
		"sundry; fwd=uri-miss; stored; collapsed; ttl=9":           {State: policy.Fresh, Stored: true, Coalesced: true, Left: 9 * time.Second},
		"sundry; fwd=uri-miss; ttl=0":                              {State: policy.Gone},
		"sundry; fwd=stale; stored; ttl=9":                         {State: policy.Fresh, Stored: true, Refreshed: true, Left: 9 * time.Second},
		"sundry; fwd=stale; stored; collapsed; ttl=9":              {State: policy.Fresh, Stored: true, Refreshed: true, Coalesced: true, Left: 9 * time.Second},
		"sundry; hit; ttl=9; detail=redis":                         {State: policy.Fresh, Tier: cache.Far, Refreshed: true, Left: 9 * time.Second},
		"sundry; fwd=stale; ttl=-3; detail=memory":                 {State: policy.Stale, Tier: cache.Near, Failed: context.Canceled, Left: -3 * time.Second},
		"sundry; fwd=uri-miss; stored; ttl=60; sundry-last-resort": {State: policy.Fresh, Stored: true, Left: time.Minute, Meta: entry.Meta{LastResort: true}},
	} {
		if got := string(appendCacheStatus(nil, &answer)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestAnAwaitedRefreshIsInCacheStatus: an entry past its grace is refreshed while
// the caller waits.
func TestAnAwaitedRefreshIsInCacheStatus(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1ms, jitter: 0, grace: 0s, stale_if_error: 1h, soft_timeout: 10s", up)})
	f.get("/api/simple").header(t, "Cache-Status", "sundry; fwd=uri-miss; stored")
	waittest.Until(t, "a refresh", func() bool {
		return strings.HasPrefix(f.get("/api/simple").Header.Get("Cache-Status"), "sundry; fwd=stale; stored; ttl=")
	})
}

// TestALastResortIsMarked: when it is fetched, from the cache, and in the status while it gives all answers.
func TestALastResortIsMarked(t *testing.T) {
	one, last := newFake(t, `{"v":"one"}`), newFake(t, `{"v":"last"}`)
	one.status.Store(http.StatusServiceUnavailable)
	text := strings.Replace(simple("ttl: 1h", one, last), "{name: second,", "{name: second, last_resort: true,", 1)
	f := newFront(t, map[string]string{"simple": text})
	for range 2 {
		a := f.get("/api/simple")
		a.want(t, http.StatusOK, "last")
		a.header(t, "Cache-Status", "; sundry-last-resort")
	}
	if s := f.publicStatus(); s.Trouble != 1 || s.Endpoints["simple"].State != "fallback" {
		t.Errorf("%+v", s)
	}
	one.status.Store(http.StatusOK)
	if a := f.get("/api/simple?id=9"); a.body == "" || strings.Contains(a.Header.Get("Cache-Status"), "last-resort") {
		t.Errorf("%v %s", a.Header, a.body)
	}
	if s := f.publicStatus(); s.Endpoints["simple"].State != "works" {
		t.Errorf("%+v", s)
	}
}
