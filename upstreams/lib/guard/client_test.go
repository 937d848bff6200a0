package guard

import (
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// site is a server on 127.0.0.1 that redirects from /to to its query.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "cookies: "+r.Header.Get("Cookie"))
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "yes"})
		w.Header().Set("Location", r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// client may reach exactly 127.0.0.1, on any port.
func client(t *testing.T, resolver Resolver) *http.Client {
	t.Helper()
	c := New(Config{Allow: loopback(), Resolver: resolver, Web: anyPort}).Client(5 * time.Second)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// following is a client whose transport is given redirects, too.
func following(t *testing.T, resolver Resolver) *http.Client {
	t.Helper()
	c := client(t, resolver)
	c.CheckRedirect = nil
	return c
}

func fetch(t *testing.T, c *http.Client, target string) (status int, body string, err error) {
	t.Helper()
	resp, err := c.Get(target)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), nil
}

// port is that of a server's URL, with its colon.
func port(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':'):] }

func TestClientFollowsAllowedRedirects(t *testing.T) {
	s := site(t)
	resolver := &names{answers: [][]string{{"127.0.0.1"}, {"127.0.0.1"}}}
	status, body, err := fetch(t, following(t, resolver), s.URL+"/to?http://One.example.org.:"+port(s)[1:]+"/to?/ok")
	if err != nil || status != http.StatusOK || body != "cookies: " {
		t.Errorf("%d %q %v", status, body, err)
	}
	if want := []string{"one.example.org."}; !slices.Equal(resolver.lookups, want) {
		t.Errorf("looked up %q, want %q", resolver.lookups, want)
	}
}

func TestClientRefusesEachRedirect(t *testing.T) {
	s := site(t)
	for _, to := range []string{
		"http://127.0.0.2" + port(s) + "/ok", "http://127.1" + port(s) + "/ok", "http://[::ffff:127.0.0.1]" + port(s) + "/ok", "http://localhost" + port(s) + "/ok",
		"ftp://127.0.0.1/", "file:///etc/passwd", "javascript:alert(1)", "http://a:b@127.0.0.1" + port(s) + "/ok",
	} {
		for _, first := range []string{"", "/to?/to?"} { // in the first request, and in a later one
			target := to
			if first != "" {
				target = s.URL + first + to
			}
			_, body, err := fetch(t, following(t, &names{answers: [][]string{{hidden}}}), target)
			if body != "" {
				t.Errorf("%s answered %q", target, body)
			}
			refused(t, err)
		}
	}
}

func TestClientStopsAtInternalNames(t *testing.T) {
	s := site(t)
	inside := "http://inside.example.org" + port(s) + "/ok"
	for _, target := range []string{inside, s.URL + "/to?/to?" + inside} {
		_, body, err := fetch(t, following(t, &names{answers: [][]string{{hidden}}}), target)
		if body != "" {
			t.Errorf("%s answered %q", target, body)
		}
		notFound(t, err)
	}
}

func TestClientLooksEachNameUpOncePerConnection(t *testing.T) {
	s := site(t)
	rebinding := &names{answers: [][]string{{"127.0.0.1"}, {hidden}}}
	if status, _, err := fetch(t, client(t, rebinding), "http://rebind.example.org"+port(s)+"/ok"); err != nil || status != http.StatusOK {
		t.Errorf("%d %v", status, err)
	}
	if len(rebinding.lookups) != 1 {
		t.Errorf("looked up %q", rebinding.lookups)
	}
}

func TestClientReturnsRedirects(t *testing.T) {
	if status, _, err := fetch(t, client(t, nil), site(t).URL+"/to?/ok"); err != nil || status != http.StatusFound {
		t.Errorf("%d %v", status, err)
	}
}

func TestClientAllowsWebPortsOnly(t *testing.T) {
	s := site(t)
	c := New(Config{Allow: loopback()}).Client(0)
	t.Cleanup(c.CloseIdleConnections)
	if status, _, err := fetch(t, c, s.URL+"/ok"); err != nil || status != http.StatusOK {
		t.Errorf("an allowed range is open on every port: %d %v", status, err)
	}
	for _, target := range []string{"http://8.8.8.8:81/", "https://8.8.8.8:22/"} {
		_, _, err := fetch(t, c, target)
		refused(t, err)
	}
	if c.Timeout != defaultTimeout || c.Jar != nil {
		t.Errorf("timeout %s, jar %v", c.Timeout, c.Jar)
	}
	if next := c.Transport.(*checkedTransport).next; next.Proxy != nil || next.TLSHandshakeTimeout == 0 || next.ResponseHeaderTimeout == 0 || next.MaxResponseHeaderBytes == 0 {
		t.Errorf("transport has a proxy or lacks a bound")
	}
}

func TestClientVerifiesCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would log the failed handshake
	s.StartTLS()
	t.Cleanup(s.Close)
	_, _, err := fetch(t, client(t, nil), s.URL)
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); !ok {
		t.Errorf("got %v, want an unknown authority", err)
	}
}

// closing is a body that records when it is closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }

func TestRefusedRequestHasItsBodyClosed(t *testing.T) {
	body := &closing{Reader: strings.NewReader("x")}
	c := client(t, nil)
	req := &http.Request{Method: http.MethodPost, URL: &url.URL{Scheme: "http", Host: "127.0.0.2"}, Body: body, ContentLength: 1}
	if _, err := c.Transport.RoundTrip(req); err == nil || !body.closed {
		t.Errorf("closed %v, error %v", body.closed, err)
	}
}

func TestCheckedURLIsSentAndTheGivenOneKept(t *testing.T) {
	s := site(t)
	c := client(t, &names{answers: [][]string{{"127.0.0.1"}}})
	given := "http://Keep.Example.org." + port(s) + "/ok"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, given, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if want := "http://keep.example.org" + port(s) + "/ok"; resp.Request.URL.String() != want || req.URL.String() != given {
		t.Errorf("sent %s, want %s; the caller's became %s", resp.Request.URL, want, req.URL)
	}
}
