//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/clients"
	"sundry/proxy/listener"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// TestTakeoverFailsNobody: with reuse_port, a second server begins in the middle of
// load, and the first ends. No request is lost, and none refused.
func TestTakeoverFailsNobody(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	u := newUpstream(t)
	u.takes.Store(int64(5 * time.Millisecond))
	dir := catalogDir(t, u, "ttl: 1h")
	first := serveWith(t, map[string]string{"SUNDRY_REUSE_PORT": "true", "SUNDRY_DRAIN_DELAY": "0s"}, "--catalog", dir)
	var away atomic.Bool
	c := gather(t.Context(), t, first, away.Load)
	second := serveWith(t, map[string]string{"SUNDRY_REUSE_PORT": "true", "SUNDRY_DRAIN_DELAY": "700ms"}, "--catalog", dir, "--listen", strings.TrimPrefix(first.public, "http://"))
	if second.public != first.public {
		t.Fatalf("listen on %s and %s", first.public, second.public)
	}
	first.end()
	c.waitForAll(t)
	away.Store(true)
	second.stop() // whose answers tell the clients to leave
	c.wg.Wait()
	if c.refused.Load() > 0 || c.closed.Load() < drained {
		t.Errorf("%d answers, %d connections refused, %d closed with notice", c.answers.Load(), c.refused.Load(), c.closed.Load())
	}
}

// TestTheAdminAPIIsThatOfWhoTakesOver once the other one ends: a purge would be lost with that one, which may take its time.
func TestTheAdminAPIIsThatOfWhoTakesOver(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(asked); <-goOn }))
	t.Cleanup(origin.Close)
	env := map[string]string{"SUNDRY_REUSE_PORT": "true", "SUNDRY_DRAIN_DELAY": "0s"}
	first := serveWith(t, env, "--to", origin.URL)
	var inFlight sync.WaitGroup
	inFlight.Go(func() { _, _, _, _ = get(first.public + "/slow") })
	<-asked
	serveWith(t, env, "--to", origin.URL, "--listen", strings.TrimPrefix(first.public, "http://"), "--admin", strings.TrimPrefix(first.admin, "http://"))
	first.stop()
	anew := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ready, inARow := 0, 50
	waittest.Until(t, "the second one alone to answer", func() bool {
		resp, err := anew.Get(first.admin + "/readyz")
		if ready++; err != nil || resp.StatusCode != http.StatusOK {
			ready = 0
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		return ready >= inARow
	})
	if len(first.done) > 0 {
		t.Error("the first one has ended")
	}
	close(goOn)
	inFlight.Wait()
}

// TestPortIsNotSharedByAccident: a second server on the same address is a mistake,
// unless both are told that it is not.
func TestPortIsNotSharedByAccident(t *testing.T) {
	t.Parallel()
	first := serveWith(t, onlyIn(t, "60s"), "--replay")
	l := listener.New(clients.Of, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	err := l.Open(t.Context(), strings.TrimPrefix(first.public, "http://"), true)
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Errorf("a second server beside one without reuse_port: %v", err)
	}
}

// TestTakenPortIsAMistakeAlsoWithReusePort: what listens there already does not share.
func TestTakenPortIsAMistakeAlsoWithReusePort(t *testing.T) {
	t.Parallel()
	taken := serveWith(t, onlyIn(t, "60s"), "--replay")
	w := &process{ctx: t.Context(), urgent: t.Context(), stdout: io.Discard, stderr: &output{}, getenv: func(name string) (string, bool) {
		v, ok := map[string]string{"SUNDRY_REUSE_PORT": "true"}[name]
		return v, ok
	}}
	err := execute(w, []string{"serve", "--replay", "--listen", strings.TrimPrefix(taken.public, "http://"), "--admin", "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "public listener: listen tcp") {
		t.Errorf("%v\n%s", err, w.stderr)
	}
}

// TestSystemdTakeoverFailsNobody: behind a socket that systemd holds, clients wait for
// the next server.
func TestSystemdTakeoverFailsNobody(t *testing.T) {
	public, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer public.Close()
	const args = "serve --replay --listen 192.0.2.1:1 --admin 127.0.0.1:0"
	first, firstLog := activated(t, public, args, "SUNDRY_LIMITS_RATE=0")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	c := &crowd{path: "/api/60s"}
	for n := range drained {
		c.wg.Go(func() { c.call(t.Context(), t, public.Addr().String(), n, away.Load) })
	}
	waittest.Until(t, "the load", func() bool { return c.answers.Load() > 20*drained || t.Failed() })
	terminate(t, first, firstLog)
	second, secondLog := activated(t, public, args, "SUNDRY_LIMITS_RATE=0")
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	c.waitForAll(t)
	away.Store(true)
	terminate(t, second, secondLog)
	c.wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	if c.refused.Load() > 0 || c.closed.Load() < drained {
		t.Errorf("%d answers, %d connections refused, %d closed with notice", c.answers.Load(), c.refused.Load(), c.closed.Load())
	}
}
