package through

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
)

// TestAnAddressThatDoesNotAnswer is given up after the time to connect, and the next one is asked.
func TestAnAddressThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := newMemory()
		s := serveWorld(t, func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "origin.test:80" {
				<-ctx.Done() // as net.Dialer waits
				return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
			}
			return back.dial(ctx, network, address)
		})
		s.h.origin.targets = append(s.h.origin.targets, Target{URL: &url.URL{Scheme: "http", Host: "second.test"}, Sent: "second.test"})
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.Host)) })}
		serveOrigin(t, back, server)
		if a := s.get("/a"); a.body != "second.test" || a.took != connectTime {
			t.Errorf("%d %s %v after %v", a.status, a.body, a.err, a.took)
		}
	})
}
