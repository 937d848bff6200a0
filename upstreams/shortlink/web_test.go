package shortlink

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type pages = map[string]http.HandlerFunc

// web is an internet whose every name leads to two servers on loopback. Keys of
// pages are URLs, with their query where it matters.
type web struct {
	pages   pages
	closed  map[string]bool // hosts that break the connection off
	client  *http.Client
	plain   *httptest.Server
	mu      sync.Mutex
	asked   []string
	checked []string
}

func newWeb(t *testing.T, p pages, closed ...string) *web {
	t.Helper()
	w := &web{pages: p, closed: map[string]bool{}}
	for _, c := range closed {
		w.closed[c] = true
	}
	w.plain = httptest.NewServer(w.handler("http://"))
	secure := httptest.NewUnstartedServer(w.handler("https://"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(addr)
			if w.closed[host] {
				return nil, &net.OpError{Op: "dial", Err: io.EOF}
			}
			to := w.plain
			if port == "443" {
				to = secure
			}
			return (&net.Dialer{}).DialContext(ctx, network, to.Listener.Addr().String())
		},
	}
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		w.plain.Close()
		secure.Close()
	})
	return w
}

func (w *web) handler(scheme string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		at := scheme + r.Host + r.URL.RequestURI()
		w.mu.Lock()
		w.asked = append(w.asked, at)
		w.mu.Unlock()
		page := w.pages[at]
		if base, _, ok := strings.Cut(at, "?"); ok && page == nil {
			page = w.pages[base]
		}
		if page == nil {
			page = status(http.StatusNotFound)
		}
		page(rw, r)
	})
}

func (w *web) follower() *Follower {
	return &Follower{Do: w.client, Check: func(raw string) (*url.URL, error) {
		w.checked = append(w.checked, raw)
		return url.Parse(raw)
	}}
}

func to(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{location}
		w.WriteHeader(http.StatusFound)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func page(body string) http.HandlerFunc { return typed("text/html; charset=gbk", body) }

func typed(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{kind}
		_, _ = io.WriteString(w, body)
	}
}
