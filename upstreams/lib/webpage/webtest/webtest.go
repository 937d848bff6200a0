// Package webtest is a fake web for tests: every host name is served by two
// servers on loopback, one for http and one for https, which answer with the
// pages of a table.
package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/upstreams/lib/guard"
)

// Pages are handlers by URL, with its query where that matters.
type Pages = map[string]http.HandlerFunc

// Web answers requests to any host. Its records may be read when the requests
// are done.
type Web struct {
	Pages     Pages
	Missing   http.HandlerFunc // answers for all other URLs
	Client    *http.Client     // connects to the servers, and follows no redirect
	Requested []string         // URLs of requests
	Checked   []string         // URLs that Check was called with

	plain  *httptest.Server // the one for http
	closed map[string]bool
	mu     sync.Mutex
}

// New starts a web that ends with the test. The closed origins, as in
// http://a.example, accept no connection.
func New(t testing.TB, pages Pages, missing http.HandlerFunc, closed ...string) *Web {
	t.Helper()
	w := &Web{Pages: pages, Missing: missing, closed: map[string]bool{}}
	for _, origin := range closed {
		w.closed[origin] = true
	}
	w.plain = httptest.NewServer(w.handler("http://"))
	secure := httptest.NewUnstartedServer(w.handler("https://"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is the test server's own
		DialContext:     w.dial(secure),
	}
	w.Client = &http.Client{Transport: transport, CheckRedirect: guard.NoRedirects}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		w.plain.Close()
		secure.Close()
	})
	return w
}

func (w *Web) dial(secure *httptest.Server) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, _ := net.SplitHostPort(addr)
		server, origin := w.plain, "http://"+host
		if port == "443" {
			server, origin = secure, "https://"+host
		}
		if w.closed[origin] {
			return nil, &net.OpError{Op: "dial", Err: io.EOF}
		}
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

func (w *Web) handler(scheme string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		full := scheme + r.Host + r.URL.RequestURI()
		w.mu.Lock()
		w.Requested = append(w.Requested, full)
		page := w.Pages[full]
		if base, _, ok := strings.Cut(full, "?"); ok && page == nil {
			page = w.Pages[base]
		}
		w.mu.Unlock()
		if page == nil {
			page = w.Missing
		}
		page(rw, r)
	})
}

// Check records a URL and accepts it.
func (w *Web) Check(raw string) (*url.URL, error) {
	w.Checked = append(w.Checked, raw)
	return url.Parse(raw)
}

// Guarded is a client that the guard lets reach the servers alone. All names resolve to
// loopback, and inside.example.org to the hidden address.
func (w *Web) Guarded(t testing.TB) (*guard.Guard, *http.Client) {
	g := guard.New(guard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Resolver: names{}, Web: func(uint16) bool { return true }})
	client := g.Client(5 * time.Second)
	t.Cleanup(client.CloseIdleConnections)
	return g, client
}

// Port is that of the server for http.
func (w *Web) Port() string { return w.plain.URL[strings.LastIndexByte(w.plain.URL, ':')+1:] }

// Hidden is the address of a name that is forbidden; no refusal may contain it.
const Hidden = "10.9.8.7"

type names struct{ guard.Resolver }

// LookupNetIP implements guard.Resolver.
func (names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "inside.example.org." {
		return []netip.Addr{netip.MustParseAddr(Hidden)}, nil
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// Doer answers requests without any network.
type Doer func(*http.Request) (*http.Response, error)

// Do is what clients do.
func (d Doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

// Zipped is a text in gzip.
func Zipped(text []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(text) // a Buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// Status answers with a status alone.
func Status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// RedirectTo answers with a redirect, whose location is sent as it is.
func RedirectTo(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{location}
		w.WriteHeader(http.StatusFound)
	}
}
