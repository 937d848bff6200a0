package through

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/lib/conntest"
)

// certificate is one of example.com, and what believes it.
func certificate(t *testing.T) ([]tls.Certificate, *x509.CertPool) {
	t.Helper()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Close()
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s.TLS.Certificates, pool
}

// trust has an origin believed whose certificate is of a pool.
func trust(o *Origin, pool *x509.CertPool) {
	for _, transport := range []*http.Transport{o.transport, o.brief, o.upgrade} {
		transport.TLSClientConfig.RootCAs = pool
	}
}

// newSecureWorld serves an origin over TLS, which is asked by HTTP/2, at these names in their order. wrap is what is put around each connection.
func newSecureWorld(t *testing.T, certificates []tls.Certificate, believed *x509.CertPool, wrap func(net.Conn) net.Conn, names ...string) *world {
	t.Helper()
	back := newMemory()
	s := serveWorld(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := back.dial(ctx, network, address)
		return wrap(conn), err
	})
	trust(s.h.origin, believed)
	s.h.origin.targets = nil
	for _, name := range names {
		s.h.origin.targets = append(s.h.origin.targets, Target{URL: &url.URL{Scheme: "https", Host: name}, Sent: name})
	}
	server := &http.Server{ErrorLog: silent, TLSConfig: &tls.Config{Certificates: certificates}, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		_, _ = w.Write([]byte(r.Host + " " + r.Proto))
	})}
	go func() { _ = server.ServeTLS(back, "", "") }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// TestAConnectionThatIsLost is not used for all requests to come, of which HTTP/2 has any number on one.
func TestAConnectionThatIsLost(t *testing.T) {
	certificates, believed := certificate(t)
	synctest.Test(t, func(t *testing.T) {
		var lost *atomic.Bool
		s := newSecureWorld(t, certificates, believed, func(c net.Conn) net.Conn {
			lost = &atomic.Bool{}
			return conntest.Deaf{Conn: c, Is: lost}
		}, "example.com")
		if a := s.get("/a"); a.body != "example.com HTTP/2.0" {
			t.Fatalf("%d %s %v", a.status, a.body, a.err)
		}
		lost.Store(true)
		s.get("/b")
		if a := s.get("/c"); a.status != http.StatusOK || a.took > time.Second {
			t.Errorf("%d %s %v after %v", a.status, a.body, a.err, a.took)
		}
	})
}

// TestACertificateThatIsWrong makes no connection: nothing was sent, so the next address is asked.
func TestACertificateThatIsWrong(t *testing.T) {
	certificates, believed := certificate(t)
	for name, ask := range map[string]func(s *world) asked{
		"a GET":  func(s *world) asked { return s.get("/a") },
		"a POST": func(s *world) asked { return s.ask(http.MethodPost, "/a", "body") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSecureWorld(t, certificates, believed, func(c net.Conn) net.Conn { return c }, "other.test", "example.com")
				if a := ask(s); a.body != "example.com HTTP/2.0" {
					t.Errorf("%d %s %v", a.status, a.body, a.err)
				}
				s.wantCalls(1)
			})
		})
	}
}

// TestSettingsOfTLS say which certificate of an origin is right, and which one it gets of this service.
func TestSettingsOfTLS(t *testing.T) {
	certificates, believed := certificate(t) // of example.com
	for name, row := range map[string]struct {
		settings *tls.Config
		want     int
	}{
		"another name":          {&tls.Config{RootCAs: believed, ServerName: "example.com"}, http.StatusOK},
		"its authority alone":   {&tls.Config{RootCAs: believed}, http.StatusBadGateway},
		"its name alone":        {&tls.Config{ServerName: "example.com"}, http.StatusBadGateway},
		"neither":               {nil, http.StatusBadGateway},
		"nothing is verified":   {&tls.Config{InsecureSkipVerify: true}, http.StatusOK},
		"a name that is not it": {&tls.Config{RootCAs: believed, ServerName: "other.test"}, http.StatusBadGateway},
	} {
		for _, upload := range []string{"", "body"} {
			t.Run(name+" "+upload, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					back := newMemory()
					s := serveWorld(t, back.dial)
					target := Target{URL: &url.URL{Scheme: "https", Host: "origin.test"}, Sent: "origin.test"}
					s.h.origin = NewOrigin([]Target{target}, First, Health{}, Connections{Connect: connectTime, Head: time.Minute, KeepAlive: true, TLS: row.settings}, back.dial)
					t.Cleanup(s.h.origin.Close)
					server := &http.Server{ErrorLog: silent, TLSConfig: &tls.Config{Certificates: certificates}}
					server.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
					go func() { _ = server.ServeTLS(back, "", "") }()
					t.Cleanup(func() { _ = server.Close() })
					if a := s.ask(http.MethodPost, "/a", upload); a.status != row.want {
						t.Errorf("%d %s %v", a.status, a.body, a.err)
					}
				})
			})
		}
	}
}
