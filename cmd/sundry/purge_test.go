package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

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

// outlastClockDifference waits until what was stored is older than the ms by which instances'
// readings of the clock differ on a busy machine.
func outlastClockDifference(t *testing.T) {
	t.Helper()
	begun := time.Now()
	waittest.Until(t, "time passes", func() bool { return time.Since(begun) > 100*time.Millisecond })
}

// TestWhatIsPurgedDuringAFillIsGone: one instance fills while the other purges,
// or drops the key. What the fill brings from before is served to nobody after
// it: not here, not there, not after a restart, whether the notice came or not.
func TestWhatIsPurgedDuringAFillIsGone(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	wire := newRelay(t, redis.Addr)
	u := newGated(t)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", u.URL, "ttl: 1h")
	one, two := serve(t, "--catalog", dir, "--redis", wire.url()), serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
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
			outlastClockDifference(t)
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
			outlastClockDifference(t)
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
			three := serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
			defer three.end()
			if _, body := mustGet(t, three.public+call); !strings.Contains(body, after) {
				t.Errorf("what was purged is served after a restart: %s", body)
			}
		})
	}
	one.t, two.t = t, t
}

// TestAPurgeStampedByAClockAhead, as an instance of before may have stored it, purges what
// there was when it was heard, and nothing after it. One that follows is not lost.
func TestAPurgeStampedByAClockAhead(t *testing.T) {
	t.Parallel()
	redis, u := redistest.Start(t), newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h")
	start := func() *instance { return serve(t, "--catalog", dir, "--redis", patient(redis.URL())) }
	one := start()
	calls := func(want int64, from ...*instance) {
		t.Helper()
		before := u.calls.Load()
		for range 20 {
			for _, p := range from {
				mustGet(t, p.public+"/api/own")
			}
		}
		if n := u.calls.Load() - before; n != want {
			t.Errorf("%d calls for 20 requests, want %d", n, want)
		}
	}
	calls(1, one)
	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
	redis.Must(fmt.Sprintf(`SET sundry:settings '{"seq":1,"purges":{"own":{"hard":%q}},"audit":[{"seq":1,"at":%q,"by":"one","do":"purge","target":"own","note":"hard"}]}'`, at, at))
	waittest.Until(t, "it hears of the purge", func() bool { return one.sequence() == "1" })
	calls(1, one)
	two := start()
	calls(1, two) // nobody can tell what was made before it
	calls(0, one, two)
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`)
	waittest.Until(t, "both know", func() bool { return one.sequence() == two.sequence() })
	calls(1, one, two)
}

// TestADropTakesWhatTheAnswerWasMadeOf: a step's result that was kept (for) is asked for
// anew, on every instance; a session (renew) goes on, and so do other answers.
func TestADropTakesWhatTheAnswerWasMadeOf(t *testing.T) {
	t.Parallel()
	var logins, lists, items atomic.Int64
	u := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := map[string]*atomic.Int64{"/login": &logins, "/list": &lists, "/item": &items}[r.URL.Path].Add(1)
		_, _ = fmt.Fprintf(w, `{"n":"%d","of":%q}`, n, r.URL.Query().Get("of"))
	}))
	t.Cleanup(u.Close)
	redis, dir := redistest.Start(t), t.TempDir()
	writeSources(t, dir, "own", "ttl: 1h, local: true", strings.ReplaceAll(`sources:
  - name: up
    timeout: 3s
    before:
      - {name: login, http: {url: "URL/login"}, keep: .n, for: 1h, shared: true, renew: true}
      - {name: list, http: {url: "URL/list", query: {id: "{id}", login: "{login}"}}, keep: .n, for: 1h}
    http: {url: "URL/item", query: {of: "{list}"}}
    map: .of
`, "URL", u.URL))
	one, two := serve(t, "--catalog", dir, "--redis", patient(redis.URL())), serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
	for _, p := range []*instance{one, two} {
		mustGet(t, p.public+"/api/own?id=1")
		mustGet(t, p.public+"/api/own?id=2")
	}
	if lists.Load() != 4 || logins.Load() != 2 {
		t.Fatalf("%d lists, %d logins", lists.Load(), logins.Load())
	}
	waittest.Until(t, "what is kept is older than the few ms by which instances' readings of the clock differ", func() bool {
		header, _ := mustGet(t, two.public+"/api/own?id=2")
		return header.Get("Age") != "0"
	})
	for _, e := range one.held("own")[""] {
		if key := e["key"].(string); strings.Contains(key, "1|") {
			one.mustAsk(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"own","key":%q}`, key))
		}
	}
	waittest.Until(t, "both know", func() bool { return one.sequence() == "1" && two.sequence() == "1" })
	for i, p := range []*instance{two, one} {
		if _, body := mustGet(t, p.public+"/api/own?id=1"); !strings.Contains(body, fmt.Sprintf(`"%d"`, 5+i)) {
			t.Errorf("instance %d answers from what was kept: %s", i, body)
		}
		mustGet(t, p.public+"/api/own?id=2") // is no other than before
	}
	if lists.Load() != 6 || logins.Load() != 2 || items.Load() != 6 {
		t.Errorf("%d lists, %d logins, %d items", lists.Load(), logins.Load(), items.Load())
	}
}
