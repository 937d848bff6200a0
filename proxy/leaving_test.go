package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache"
	"sundry/upstreams"
)

// hanging is an upstream that never answers, and tells how many calls it has.
type hanging struct {
	*httptest.Server
	calls, open atomic.Int64
}

func newHanging(t *testing.T) *hanging {
	t.Helper()
	h := &hanging{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.calls.Add(1)
		h.open.Add(1)
		defer h.open.Add(-1)
		<-r.Context().Done()
	}))
	t.Cleanup(h.Close)
	return h
}

// TestCallersWhoLeaveTakeTheirCallsAlong: no call upstream outlives the last of
// those who waited for it by more than a second.
func TestCallersWhoLeaveTakeTheirCallsAlong(t *testing.T) {
	up := newHanging(t)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h, fill_timeout: 30s", &fake{Server: up.Server})})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var callers sync.WaitGroup
	for i := range 300 {
		callers.Go(func() {
			_, _ = f.try(ctx, http.MethodGet, fmt.Sprintf("/api/simple?id=%d", i%100+1)) // left, or refused
		})
	}
	eventually(t, "calls upstream", func() bool { return up.open.Load() >= 20 })
	leave()
	callers.Wait()
	left := time.Now()
	eventually(t, "the calls have ended", func() bool { return up.open.Load() == 0 })
	if took := time.Since(left); took > time.Second {
		t.Errorf("the last call outlived its callers by %v", took)
	}
	eventually(t, "nobody is under way", func() bool { n, _ := f.server.load.count(); return n == 0 })
}

// TestFillsBeyondTheirBoundAreRefused: with a bound of two, one endpoint has
// one; what is cached is served meanwhile.
func TestFillsBeyondTheirBoundAreRefused(t *testing.T) {
	store, err := cache.New(cache.Config{Memory: 32 << 20, Fills: 2})
	if err != nil {
		t.Fatal(err)
	}
	up := newHanging(t)
	quick := newFake(t, `{"v":"one"}`)
	other := strings.Replace(simple("ttl: 1h", quick), "name: simple", "name: other", 1)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", &fake{Server: up.Server}), "other": other}, func(c *Config, _ *upstreams.Environment) { c.Cache = store })
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	var caller sync.WaitGroup
	caller.Go(func() { _, _ = f.try(ctx, http.MethodGet, "/api/simple?id=1") }) // leaves
	eventually(t, "a call upstream", func() bool { return up.open.Load() == 1 })
	a := f.get("/api/simple?id=2")
	a.want(t, http.StatusServiceUnavailable, `"type":"overloaded"`)
	a.header(t, "Retry-After", "1")
	f.get("/api/other").want(t, http.StatusOK, "one")
	leave()
	caller.Wait()
}
