//go:build linux

package express

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// overTLS makes connections that have made their handshake.
func overTLS(t testing.TB) siteOption {
	t.Helper()
	forCertificate := httptest.NewUnstartedServer(nil)
	forCertificate.StartTLS()
	t.Cleanup(forCertificate.Close)
	config := &tls.Config{Certificates: forCertificate.TLS.Certificates, NextProtos: []string{"http/1.1"}}
	return func(s *site, _ *http.Server) {
		s.tls = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}, ClientSessionCache: tls.NewLRUClientSessionCache(1)} // RSA costs milliseconds
		s.wrap = func(nc net.Conn) net.Conn {
			c := tls.Server(nc, config)
			_ = c.Handshake() // an error comes again with the first read
			return c
		}
	}
}

// TestDifferenceOverTLS: no client can tell whether the lane is there.
func TestDifferenceOverTLS(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	w := openTwins(t, overTLS(t))
	compareCorpus(t, w, longtest.Every(7))
	if w.lane.answered.Load() < 10 {
		t.Errorf("the lane answered %d: hardly a comparison", w.lane.answered.Load())
	}
}

func TestPipelinesMakeNoDifferenceOverTLS(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	comparePipelines(t, openTwins(t, overTLS(t)))
}

// TestStateOfTLS reaches the handler, and the boundary is regained behind a request that net/http has answered.
func TestStateOfTLS(t *testing.T) {
	for name, open := range map[string]func(testing.TB, ...siteOption) *site{"with the lane": openSite, "without": openPlainSite} {
		s := open(t, overTLS(t), func(s *site, srv *http.Server) {
			srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.TLS == nil || !r.TLS.HandshakeComplete {
					t.Errorf("%s: the request has no state of TLS", name)
				}
				s.ServeHTTP(w, r)
			})
		})
		c := s.dial(t)
		r := bufio.NewReader(c)
		for i := range 50 {
			send(t, c, hit)
			expect(t, r, "/hit?a=1")
			send(t, c, get(fmt.Sprintf("/other?%d", i)))
			expect(t, r, "miss /other?")
		}
		if s.lane != nil && (s.answered.Load() != 50 || s.handled.Load() != 50) {
			t.Errorf("the lane answered %d, net/http %d, want 50 each", s.answered.Load(), s.handled.Load())
		}
	}
}

// TestClientsThatLeaveOverTLS are noticed while a request is handled.
func TestClientsThatLeaveOverTLS(t *testing.T) {
	for name, leave := range map[string]func(*tls.Conn){
		"closed": func(c *tls.Conn) { c.Close() },
		"reset":  func(c *tls.Conn) { c.NetConn().(*net.TCPConn).SetLinger(0); c.NetConn().Close() },
	} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t, overTLS(t))
			c := s.dial(t)
			send(t, c, hit+get("/wait"))
			<-s.enter
			leave(c.(*tls.Conn))
			if err := <-s.leave; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler ended with %v", err)
			}
		})
	}
}

// TestTimesOverTLS: idle connections, heads that do not end, and readers that read nothing are given up in time.
func TestTimesOverTLS(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	for name, then := range map[string]string{"idle": "", "in a head": hit[:20]} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t, overTLS(t), limits(soon, 0, long, 2*soon))
			c := s.dial(t)
			r := bufio.NewReader(c)
			for range 3 {
				send(t, c, hit)
				expect(t, r, "/hit")
			}
			send(t, c, then)
			_, _ = io.Copy(io.Discard, r) // ends
			waittest.Until(t, "the end of the connection", func() bool { return len(s.lane.open()) == 0 })
		})
	}
	t.Run("reads nothing", func(t *testing.T) {
		s := openSite(t, overTLS(t), limits(long, 0, soon, long))
		_, there := stuck(t, s)
		waittest.Until(t, "the end of the connection", func() bool { return len(s.lane.open()) == 0 })
		if phase := there.phase.Load(); phase != phaseClosed {
			t.Errorf("phase %d", phase)
		}
	})
}

// TestShutdownOverTLS lets an answer be written, and closes connections that only the lane has answered on.
func TestShutdownOverTLS(t *testing.T) {
	s := openSite(t, overTLS(t))
	r, there := stuck(t, s)
	ended := make(chan error)
	go func() { ended <- s.server.Shutdown(t.Context()) }()
	waittest.Until(t, "the end of the connection has begun", func() bool { return there.phase.Load() == phaseEnding })
	expect(t, r, "0123456789abcdef")
	expectEnd(t, r)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
