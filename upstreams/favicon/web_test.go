package favicon

import (
	"bytes"
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

// web is an internet whose every name leads to two servers on loopback. Keys
// are URLs without query; what is missing is a 404 with an HTML body.
type web struct {
	pages   map[string]http.HandlerFunc
	closed  map[string]bool // origins that refuse connections
	client  *http.Client
	mu      sync.Mutex
	asked   []string
	checked []string
}

func newWeb(t *testing.T, pages map[string]http.HandlerFunc, closed ...string) *web {
	t.Helper()
	w := &web{pages: pages, closed: map[string]bool{}}
	for _, c := range closed {
		w.closed[c] = true
	}
	plain := httptest.NewServer(w.handler("http://"))
	secure := httptest.NewUnstartedServer(w.handler("https://"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, port, _ := net.SplitHostPort(addr)
			to, origin := plain, "http://"+host
			if port == "443" {
				to, origin = secure, "https://"+host
			}
			if w.closed[origin] {
				return nil, &net.OpError{Op: "dial", Err: io.EOF}
			}
			return (&net.Dialer{}).DialContext(ctx, network, to.Listener.Addr().String())
		},
	}
	w.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		plain.Close()
		secure.Close()
	})
	return w
}

func (w *web) handler(scheme string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		at := scheme + r.Host + r.URL.Path
		w.mu.Lock()
		w.asked = append(w.asked, at)
		w.mu.Unlock()
		if page := w.pages[at]; page != nil {
			page(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "image/x-icon") // as soft as a 404 gets
		rw.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(rw, "<!DOCTYPE html><title>no such page</title>"+strings.Repeat(" ", 100))
	})
}

func (w *web) finder() *Finder {
	return &Finder{Do: w.client, Check: func(raw string) (*url.URL, error) {
		w.checked = append(w.checked, raw)
		return url.Parse(raw)
	}}
}

// gives answers with bytes of a type that is always wrong.
func gives(b []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(b)
	}
}

func page(head string) http.HandlerFunc {
	return gives([]byte("<!DOCTYPE html><html><head><title>t</title>" + head + "</head><body><p>x</p></body></html>"))
}

func to(location string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", location)
		w.WriteHeader(http.StatusFound)
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// picture has a type's first bytes and nothing else of it.
func picture(magic string) []byte {
	return append([]byte(magic), bytes.Repeat([]byte{0}, 100)...)
}

const (
	icoMagic = "\x00\x00\x01\x00"
	pngMagic = "\x89PNG\r\n\x1a\n"
)

var svg = []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>`)
