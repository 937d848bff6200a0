//go:build linux

package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// TestATakenPortIsAMistake, with its address in the message.
func TestATakenPortIsAMistake(t *testing.T) {
	t.Parallel()
	taken := serveWith(t, onlyIn(t, "60s"), "--replay")
	w := &process{ctx: t.Context(), urgent: t.Context(), stdout: io.Discard, stderr: &output{}, getenv: func(string) (string, bool) { return "", false }}
	err := execute(w, []string{"serve", "--replay", "--listen", strings.TrimPrefix(taken.public, "http://"), "--admin", "127.0.0.1:0"})
	if err == nil || !strings.Contains(err.Error(), "public listener: listen tcp") || !strings.Contains(err.Error(), "address already in use") {
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
