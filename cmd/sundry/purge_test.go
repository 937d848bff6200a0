package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/upstreams/waittest"

	"sundry/cache/far/redistest"
)

// gated is an upstream whose edition changes, and whose calls wait for a word
// once it is shut.
type gated struct {
	*httptest.Server
	edition atomic.Value // string
	gate    atomic.Pointer[chan struct{}]
	waiting atomic.Int64
}

func newGated(t *testing.T) *gated {
	t.Helper()
	u := &gated{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		edition := u.edition.Load()
		if gate := u.gate.Load(); gate != nil {
			u.waiting.Add(1)
			select {
			case <-*gate:
			case <-r.Context().Done():
			}
		}
		_, _ = fmt.Fprintf(w, `{"edition":%q}`, edition)
	}))
	t.Cleanup(u.Close)
	return u
}

// shut lets calls wait; what it returns lets them go.
func (u *gated) shut() (open func()) {
	gate := make(chan struct{})
	u.waiting.Store(0)
	u.gate.Store(&gate)
	return func() {
		u.gate.Store(nil)
		close(gate)
	}
}

// TestWhatIsPurgedDuringAFillIsGone: one instance fills while the other purges,
// or drops the key. What the fill brings from before is served to nobody after
// it: not here, not there, not after a restart, whether the notice came or not.
func TestWhatIsPurgedDuringAFillIsGone(t *testing.T) {
	redis := redistest.Start(t)
	wire := newRelay(t, redis.Addr)
	u := newGated(t)
	dir := t.TempDir()
	write(t, dir, "own.yaml", `version: 1
name: own
group: lookups
summary: {en: Own., zh: 自己的}
params: [{name: id, type: int, min: 1, max: 100000, default: "1", example: "1"}]
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: up, timeout: 3s, http: {url: "`+u.URL+`/", query: {id: "{id}"}}}]
`)
	one, two := serve(t, "--catalog", dir, "--redis", wire.url()), serve(t, "--catalog", dir, "--redis", redis.URL())
	const call = "/api/own"
	u.edition.Store("none")
	mustGet(t, one.public+call)
	key := one.held("own")[""][0]["key"].(string)
	hard, drop := `{"endpoint":"own","mode":"hard"}`, fmt.Sprintf(`{"endpoint":"own","key":%q}`, key)
	for i, row := range []struct{ name, order string }{
		{"a purge", hard}, {"a drop", drop}, {"a purge whose notice is lost", hard}, {"a drop whose notice is lost", drop},
	} {
		t.Run(row.name, func(t *testing.T) {
			one.t, two.t = t, t
			lost := strings.Contains(row.name, "lost")
			two.mustAsk(http.MethodPost, "purge", hard)
			waittest.Until(t, "both know", func() bool { return one.sequence() == two.sequence() })
			if lost {
				wire.set(false, notices)
			}
			before, after := fmt.Sprintf("before-%d", i), fmt.Sprintf("after-%d", i)
			u.edition.Store(before)
			open := u.shut()
			filled := make(chan error, 1)
			go func() { _, _, _, err := get(one.public + call); filled <- err }()
			waittest.Until(t, "the fill is on its way", func() bool { return u.waiting.Load() > 0 })
			u.edition.Store(after)
			two.mustAsk(http.MethodPost, "purge", row.order)
			if !lost {
				waittest.Until(t, "the order arrives", func() bool { return one.sequence() == two.sequence() })
			}
			open()
			if err := <-filled; err != nil {
				t.Fatal(err)
			}
			waittest.Until(t, "the order has arrived", func() bool { return one.sequence() == two.sequence() })
			for range 3 {
				for _, p := range []*instance{one, two} {
					if _, body := mustGet(t, p.public+call); !strings.Contains(body, after) {
						t.Errorf("what was purged is served: %s", body)
					}
				}
			}
			wire.set(false, nil)
			three := serve(t, "--catalog", dir, "--redis", redis.URL())
			defer three.end()
			if _, body := mustGet(t, three.public+call); !strings.Contains(body, after) {
				t.Errorf("what was purged is served after a restart: %s", body)
			}
		})
	}
	one.t, two.t = t, t
}

// TestOrdersOfAnOutage: an entry is dropped while an instance is cut off from
// Redis; once it hears again, it does not have it either.
func TestOrdersOfAnOutage(t *testing.T) {
	redis := redistest.Start(t)
	wire := newRelay(t, redis.Addr)
	one, two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", redis.URL()), serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", wire.url())
	mustGet(t, one.public+ipCall)
	key := two.entryKey(t)
	wire.set(true, nil)
	for range 60 { // more than are remembered as orders
		one.mustAsk(http.MethodPost, "purge", `{"endpoint":"60s","key":"60s:nothing"}`)
	}
	one.mustAsk(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"ip","key":%q}`, key))
	for range 60 {
		one.mustAsk(http.MethodPost, "purge", `{"endpoint":"60s","key":"60s:nothing"}`)
	}
	if n := len(two.held("ip")[""]); n != 1 {
		t.Fatalf("%d entries while it is cut off", n)
	}
	wire.set(false, notices)
	waittest.Until(t, "the drop", func() bool { return usable(two.held("ip")[""]) == 0 })
}
