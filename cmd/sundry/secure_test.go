package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// secureHost is the name in the certificates of these tests.
const secureHost = "api.example.org"

// secureInstance is an instance that speaks TLS, and what its clients trust.
type secureInstance struct {
	*instance
	dir   string
	trust *x509.CertPool
}

// serveSecurely serves with a certificate for secureHost.
func serveSecurely(t testing.TB, settings string, args ...string) *secureInstance {
	t.Helper()
	s := &secureInstance{dir: t.TempDir()}
	s.trust = certificate(t, s.dir, secureHost)
	file := write(t, s.dir, "sundry.yaml", fmt.Sprintf("tls: {cert: %s, key: %s}\n%s", s.file("fullchain.pem"), s.file("privkey.pem"), settings))
	s.instance = serve(t, append([]string{"--config", file}, args...)...)
	return s
}

func (s *secureInstance) file(name string) string { return filepath.Join(s.dir, name) }

// address is that of the public listener.
func (s *secureInstance) address() string { return strings.TrimPrefix(s.public, "http://") }

// tlsConfig is that of a client which offers these protocols.
func (s *secureInstance) tlsConfig(protocols ...string) *tls.Config {
	return &tls.Config{RootCAs: s.trust, ServerName: secureHost, NextProtos: protocols}
}

// client asks by HTTP/2 or HTTP/1.1.
func (s *secureInstance) client(t testing.TB, http2 bool) *http.Client {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	tr := &http.Transport{TLSClientConfig: s.tlsConfig(), Protocols: protocols}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 10 * time.Second}
}

// dial opens a connection that speaks one protocol.
func (s *secureInstance) dial(t testing.TB, protocol string) *tls.Conn {
	t.Helper()
	c, err := tls.Dial("tcp", s.address(), s.tlsConfig(protocol))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// get asks for a path, and returns the response with its body read.
func (s *secureInstance) get(t testing.TB, c *http.Client, path string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get("https://" + s.address() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, resp.Status, b, err)
	}
	return resp, string(b)
}

// TestHTTPS: both versions of HTTP are served, hits over HTTP/1.1 by the express lane.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	s := serveSecurely(t, only("qrcode"), "--replay")
	const path = "/api/qrcode?text=a"
	for version, http2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		c := s.client(t, http2)
		for range 10 {
			if resp, _ := s.get(t, c, path); resp.Proto != version || resp.TLS.Version != tls.VersionTLS13 || resp.Header.Get("Strict-Transport-Security") != "" {
				t.Errorf("%s %x %v, want %s", resp.Proto, resp.TLS.Version, resp.Header, version)
			}
		}
	}
	if answered := s.metric("sundry_express_requests_total{result=\"answered\"}"); answered == 0 {
		t.Error("the lane answered nothing over TLS")
	}
	if log := s.stderr.String(); !strings.Contains(log, "home=https://") {
		t.Errorf("the address of the home page is not https: %s", log)
	}
}

// TestPlainRequestToTheTLSPort: the response says what is wrong.
func TestPlainRequestToTheTLSPort(t *testing.T) {
	t.Parallel()
	s := serveSecurely(t, only("ip"), "--replay")
	status, _, body := keep(t, s.public).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if status != http.StatusBadRequest || !strings.Contains(body, "HTTP request to an HTTPS server") {
		t.Errorf("status %d: %s", status, body)
	}
}

// TestCertificateIsReadAgain: what the files hold is served without a restart, and a broken pair is not.
func TestCertificateIsReadAgain(t *testing.T) {
	t.Parallel()
	s := serveSecurely(t, only("ip"), "--replay")
	write(t, s.dir, "privkey.pem", "broken")
	waittest.Until(t, "the mistake is logged", func() bool {
		return strings.Contains(s.stderr.String(), "tls.key: "+s.file("privkey.pem")+": expected a private key in PEM")
	})
	before := s.dial(t, "http/1.1").ConnectionState().PeerCertificates[0]
	s.trust = certificate(t, s.dir, secureHost)
	waittest.Until(t, "the new certificate is served", func() bool {
		c, err := tls.Dial("tcp", s.address(), s.tlsConfig())
		if err != nil {
			return false
		}
		defer c.Close()
		return !c.ConnectionState().PeerCertificates[0].Equal(before)
	})
}

// TestHealthAsksOverTLS, whatever name the certificate is for.
func TestHealthAsksOverTLS(t *testing.T) {
	t.Parallel()
	s := serveSecurely(t, only("ip"), "--replay")
	if out, _, err := call(t, nil, "health", "--config", s.file("sundry.yaml"), "--listen", s.address()); err != nil || out != "ok\n" {
		t.Errorf("%q %v", out, err)
	}
}

// TestMistakesInAPair are told with the setting and the file, at the start and by check.
func TestMistakesInAPair(t *testing.T) {
	t.Parallel()
	dir, other := t.TempDir(), t.TempDir()
	certificate(t, dir, secureHost)
	certificate(t, other, secureHost)
	cert, key := filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem")
	broken := write(t, dir, "broken.pem", "-----BEGIN")
	for want, pair := range map[string][2]string{
		"tls.key: " + filepath.Join(other, "privkey.pem") + ": the key is not that of the certificate in " + cert: {cert, filepath.Join(other, "privkey.pem")},
		"tls.cert: " + broken + ": expected a certificate in PEM, followed by its chain":                          {broken, key},
		"tls.key: " + broken + ": expected a private key in PEM":                                                  {cert, broken},
		"tls.cert: " + key + ": expected a certificate in PEM, followed by its chain":                             {key, cert},
		`tls.cert: "` + filepath.Join(dir, "none.pem") + `": no such file or directory; expected a file`:          {filepath.Join(dir, "none.pem"), key},
		"tls.cert: expected together with the file of its private key":                                            {cert, `""`},
	} {
		file := write(t, dir, "sundry.yaml", fmt.Sprintf("builtin: true\ntls:\n  cert: %s\n  key: %s\n%s", pair[0], pair[1], only("ip")))
		_, _, err := call(t, nil, "serve", "--replay", "--config", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
		if err == nil || !strings.Contains(err.Error(), file+":") || !strings.Contains(err.Error(), want) || statusOf(err) != statusMisconfigured {
			t.Errorf("serve: %v, want %s", err, want)
		}
		if _, errs, err := call(t, map[string]string{"SUNDRY_LANGUAGE": "en"}, "check", "--config", file); err == nil || !strings.Contains(errs, want) {
			t.Errorf("check: %s, want %s", errs, want)
		}
	}
}

// TestRedirectToHTTPS: the plain listener redirects to the names of the certificate alone.
func TestRedirectToHTTPS(t *testing.T) {
	t.Parallel()
	plain := freeAddress(t)
	s := serveSecurely(t, "redirect: "+plain+"\n"+only("ip"), "--replay")
	k := keep(t, plain)
	if status, header, _ := k.send("GET /api/ip?ip=8.8.8.8 HTTP/1.1\r\nHost: " + secureHost + "\r\n\r\n"); status != http.StatusMovedPermanently || header.Get("Location") != fmt.Sprintf("https://%s:%d/api/ip?ip=8.8.8.8", secureHost, portOf(s.address())) {
		t.Errorf("%d %v", status, header)
	}
	if status, _, _ := keep(t, plain).send("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"); status != http.StatusMisdirectedRequest {
		t.Errorf("another host: status %d", status)
	}
	s.end()
	if c, err := net.Dial("tcp", plain); err == nil {
		_ = c.Close()
		t.Error("the plain listener is open after the end")
	}
}

// TestSettingsOfTLSThatDoNotGoTogether are told with their lines.
func TestSettingsOfTLSThatDoNotGoTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificate(t, dir, secureHost)
	pair := fmt.Sprintf("tls: {cert: %s, key: %s}\n", filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem"))
	for text, want := range map[string]string{
		pair + "acme: {hosts: [a.example], cache: " + dir + "}": "sundry.yaml:2: acme.hosts: expected without tls",
		"acme: {hosts: [a.example]}":                            "sundry.yaml:1: acme.hosts: expected together with a directory for certificates, such as data: /var/lib/sundry",
		"acme: {email: a@b.example}":                            "acme: expected hosts",
		"acme: {hosts: ['*.example.org'], cache: " + dir + "}":  `sundry.yaml:1: acme.hosts: "*.example.org": expected a host name`,
		"acme: {hosts: [192.0.2.1], cache: " + dir + "}":        `sundry.yaml:1: acme.hosts: "192.0.2.1": expected a host name`,
		"acme: {directory: 'http://ca.example/dir'}":            `sundry.yaml:1: acme.directory: "http://ca.example/dir": expected an https URL`,
		"acme: {cache: " + filepath.Join(dir, "a/b") + "}":      "expected a directory, or a new one in a directory that exists",
		"redirect: ':80'":                                       "sundry.yaml:1: redirect: expected together with tls or acme",
	} {
		file := write(t, dir, "sundry.yaml", text)
		if _, errs, err := call(t, map[string]string{"SUNDRY_LANGUAGE": "en"}, "check", "--config", file); err == nil || !strings.Contains(errs, want) {
			t.Errorf("%s: %s, want %s", text, errs, want)
		}
	}
}

// plainly returns the address of a listener. It forwards its connections to the instance over TLS and HTTP/1.1.
func (s *secureInstance) plainly(t *testing.T) (public string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	all.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := tls.Dial("tcp", s.address(), s.tlsConfig("http/1.1"))
			if err != nil {
				_ = near.Close()
				continue
			}
			answered := make(chan struct{})
			all.Go(func() {
				defer close(answered)
				_, _ = io.Copy(near, far)
				_ = near.(*net.TCPConn).CloseWrite()
			})
			all.Go(func() {
				_, _ = io.Copy(far, near)
				_ = far.CloseWrite()
				_, _ = io.Copy(io.Discard, near) // or a reset would take the answer from the client
				<-answered
				_, _ = near.Close(), far.Close()
			})
		}
	})
	return "http://" + l.Addr().String()
}

// TestWebSocketsOverTLS are tunnels as those without it.
func TestWebSocketsOverTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "echo.yaml", "version: 1\nname: echo\nproxy: {to: '"+echo(t)+"', hosts: [localhost]}\n")
	s := serveSecurely(t, only(), "--catalog", dir)
	k, ok := openTunnel(t, attacker, s.plainly(t))
	if !ok {
		t.Fatal("no tunnel")
	}
	fmt.Fprint(k, "hello\n")
	if line, err := k.answers.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%q %v", line, err)
	}
	if n := s.metric("sundry_connections"); n != 1 {
		t.Errorf("%v connections are counted", n)
	}
	_ = k.Close()
	waittest.Until(t, "the tunnel to be gone", func() bool { return s.metric("sundry_connections") == 0 })
}

// TestRequestsWithoutACertainEndOverTLS get 400 as those without it, with the fast path and without.
func TestRequestsWithoutACertainEndOverTLS(t *testing.T) {
	t.Parallel()
	dir, origin := t.TempDir(), httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Cache-Control", "max-age=60")
	}))
	t.Cleanup(origin.Close)
	write(t, dir, "own.yaml", "version: 1\nname: own\nproxy: {to: '"+origin.URL+"', hosts: [localhost]}\n")
	const hit = "GET /kept HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for _, express := range []string{"true", "false"} {
		public := serveSecurely(t, "express: "+express+"\n"+only(), "--catalog", dir).plainly(t)
		for name, text := range badFraming() {
			for _, pipelined := range []bool{false, true} {
				for where, before := range map[string][]string{"at first": nil, "behind a hit": {hit, hit}} {
					if status := lastStatus(t, public, append(slices.Clip(before), "POST /posted HTTP/1.1\r\nHost: localhost\r\n"+text), pipelined); status != http.StatusBadRequest {
						t.Errorf("express %s, %s %s, pipelined: %v: %d", express, name, where, pipelined, status)
					}
				}
			}
		}
	}
}

// TestDisconnectOverTLS: a request that takes long ends soon after its client has gone, in both versions of HTTP.
func TestDisconnectOverTLS(t *testing.T) {
	t.Parallel()
	for version, http2 := range map[string]bool{"HTTP/2": true, "HTTP/1.1": false} {
		gone, asked := make(chan struct{}), make(chan struct{})
		u := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
			close(gone)
		}))
		t.Cleanup(u.Close)
		dir := t.TempDir()
		writeSources(t, dir, "own", "ttl: 1h", `sources: [{name: up, timeout: 20s, http: {url: "`+u.URL+`/"}}]`)
		s := serveSecurely(t, only(), "--catalog", dir)
		ctx, leave := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+s.address()+"/api/own?id=1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if resp, err := s.client(t, http2).Do(r); err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-asked
		leave()
		<-done
		select {
		case <-gone:
		case <-time.After(5 * time.Second):
			t.Errorf("%s: the call goes on without its client", version)
		}
	}
}

// TestDrainOverTLSFailsNobody: clients that are in a handshake when the listener closes are served.
func TestDrainOverTLSFailsNobody(t *testing.T) {
	u := newUpstream(t)
	u.takes.Store(int64(5 * time.Millisecond))
	s := serveSecurely(t, "drain_delay: 0s\nlimits: {rate: 0, queue_delay: 0s}\n"+only(), "--catalog", catalogDir(t, u, "ttl: 1h"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := &crowd{tls: s.tlsConfig("http/1.1")}
	c.gather(ctx, t, s.instance, func() bool { return false })
	other := s.client(t, true)
	s.get(t, other, "/healthz") // its connection is idle then
	begun := time.Now()
	s.end()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	stop()
	c.wg.Wait()
	if c.refused.Load() != drained {
		t.Errorf("%d of %d clients were refused in the end", c.refused.Load(), drained)
	}
}

// TestAnAPIOverHTTPS is told so, and has its hits, from the express lane over HTTP/1.1, until it is purged by tag.
func TestAnAPIOverHTTPS(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Tag", "notes")
		fmt.Fprintf(w, "%s %s %s %d", r.Host, r.Header.Get("X-Forwarded-Proto"), r.Header.Get("Forwarded"), calls.Add(1))
	}))
	t.Cleanup(api.Close)
	s := serveSecurely(t, "", "--to", api.URL, "--ttl", "1m")
	for _, http2 := range []bool{true, false} {
		c := s.client(t, http2)
		for i := range 5 {
			resp, body := s.get(t, c, "/notes")
			want := fmt.Sprintf(`%s https for=127.0.0.1;host="%[1]s";proto=https %d`, s.address(), calls.Load())
			if hit := strings.HasPrefix(resp.Header.Get("Cache-Status"), "sundry; hit"); body != want || hit != (i > 0) {
				t.Errorf("HTTP/2 %t, request %d: %s, a hit %t, want %s", http2, i, body, hit, want)
			}
		}
		r, _ := http.NewRequestWithContext(t.Context(), "PURGE", s.admin+"/", http.NoBody)
		r.Header.Set("Cache-Tag", "notes")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if answered := s.metric("sundry_express_requests_total{result=\"answered\"}"); answered < 4 {
		t.Errorf("the lane answered %v hits over HTTP/1.1, want 4", answered)
	}
}
