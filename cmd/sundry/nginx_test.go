package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/upstreams/lib/peertest"
)

// certificate writes a throw-away pair for the name, and returns who trusts it.
func certificate(t testing.TB, dir, name string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	write(t, dir, "fullchain.pem", string(public))
	write(t, dir, "privkey.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(public)
	return pool
}

// freeAddress returns an address on loopback that was free a moment ago. Its port is below the ports that systems give to clients, which come
// and go while a program starts.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+mathrand.IntN(22_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// site is the sample, moved to ports and a directory of the test's.
type site struct {
	dir, config string
	plain, tls  string
	trust       *x509.CertPool
}

func sampleSite(t *testing.T, backend string) *site {
	t.Helper()
	s := &site{dir: t.TempDir(), plain: freeAddress(t), tls: freeAddress(t)}
	s.trust = certificate(t, s.dir, "api.example.org")
	sample := readFile(t, filepath.Join(samples, "nginx/sundry.conf"))
	for _, change := range [][2]string{
		{"server 127.0.0.1:8080;", "server " + backend + ";"},
		{"listen 80;", "listen " + s.plain + ";"}, {"    listen [::]:80;\n", ""},
		{"listen 443 ssl http2;", "listen " + s.tls + " ssl http2;"}, {"    listen [::]:443 ssl http2;\n", ""},
		{"/etc/ssl/sundry/", s.dir + "/"}, {"/var/log/nginx/", s.dir + "/"},
	} {
		if !strings.Contains(sample, change[0]) {
			t.Fatalf("the sample has no %q", change[0])
		}
		sample = strings.ReplaceAll(sample, change[0], change[1])
	}
	write(t, s.dir, "sundry.conf", sample)
	var temporary strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temporary, "  %s_temp_path %s;\n", kind, filepath.Join(s.dir, kind))
	}
	s.config = write(t, s.dir, "nginx.conf", "daemon off;\nmaster_process off;\npid "+s.dir+"/pid;\nerror_log stderr;\nevents {}\nhttp {\n"+
		temporary.String()+"  include "+s.dir+"/sundry.conf;\n}\n")
	return s
}

// start runs nginx until the test ends.
func (s *site) start(t *testing.T, nginx string) {
	t.Helper()
	runPeer(t, s.tls, nginx, "-p", s.dir, "-e", "stderr", "-c", s.config)
}

// caller calls from 127.0.0.2, which nobody trusts.
func (s *site) caller(t *testing.T) *http.Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: s.trust}, ForceAttemptHTTP2: true,
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			if strings.HasSuffix(addr, ":443") {
				return dialer.DialContext(ctx, "tcp", s.tls)
			}
			return dialer.DialContext(ctx, "tcp", s.plain)
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestNginxAcceptsTheSample(t *testing.T) {
	t.Parallel()
	nginx := peertest.Program(t, "nginx", "nginx-light", "nginx")
	s := sampleSite(t, "127.0.0.1:8080")
	test := func() string {
		out, err := exec.CommandContext(t.Context(), nginx, "-t", "-p", s.dir, "-e", "stderr", "-c", s.config).CombinedOutput()
		if err != nil {
			return string(out)
		}
		for line := range strings.Lines(string(out)) {
			// The sample says that and why.
			if strings.Contains(line, "[warn]") && !strings.Contains(line, `"listen ... http2" directive is deprecated`) {
				t.Errorf("nginx warns: %s", line)
			}
		}
		return ""
	}
	if failed := test(); failed != "" {
		t.Error(failed)
	}
	// With its optional limit, too.
	optional := strings.NewReplacer("#limit_req", "limit_req").Replace(readFile(t, filepath.Join(s.dir, "sundry.conf")))
	write(t, s.dir, "sundry.conf", optional)
	if failed := test(); failed != "" {
		t.Error(failed)
	}
	write(t, s.dir, "sundry.conf", strings.Replace(optional, "proxy_pass", "proxy_pas", 1))
	if test() == "" {
		t.Error("nginx accepts anything")
	}
}

// TestNginxInFront sends requests through nginx as the sample has it.
func TestNginxInFront(t *testing.T) {
	t.Parallel()
	nginx := peertest.Program(t, "nginx", "nginx-light", "nginx")
	p := serve(t, "--replay", "--config", write(t, t.TempDir(), "sundry.yaml", "trusted_proxies: [127.0.0.1]\n"))
	s := sampleSite(t, strings.TrimPrefix(p.public, "http://"))
	s.start(t, nginx)
	client := s.caller(t)
	ask := func(url string, header http.Header) (*http.Response, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = header
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(body)
	}
	const site = "https://api.example.org"
	for _, claim := range []http.Header{{}, {"X-Forwarded-For": {"9.9.9.9"}}, {"Forwarded": {"for=9.9.9.9"}}, {"X-Forwarded-For": {"9.9.9.9, 127.0.0.1"}}} {
		if resp, body := ask(site+"/api/ip/index.php", claim); resp.ProtoMajor != 2 || !strings.Contains(body, `"ip":"127.0.0.2"`) {
			t.Errorf("claiming %v: %s %s %s", claim, resp.Proto, resp.Status, body)
		}
	}
	first, _ := ask(site+"/api/60s/index.php", http.Header{})
	again, body := ask(site+"/api/60s/index.php", http.Header{"If-None-Match": {first.Header.Get("ETag")}})
	if again.StatusCode != http.StatusNotModified || body != "" || again.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("again: %s %v %q", again.Status, again.Header, body)
	}
	if resp, _ := ask("http://api.example.org/api/sfz?card=110101199001010015", nil); resp.StatusCode != http.StatusPermanentRedirect || resp.Header.Get("Location") != site+"/api/sfz?card=110101199001010015" {
		t.Errorf("plain: %s %v", resp.Status, resp.Header)
	}
	long := strings.Repeat("%E4%B8%AD", 900) // the longest that one code holds, or nearly
	if resp, body := ask(site+"/api/qrcode?text="+long, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("a long text: %s %s", resp.Status, body)
	}
	ask(site+"/api/sfz?card=110101199001010015", nil)
	waittest.Until(t, "the log", func() bool {
		return strings.Count(readFile(t, filepath.Join(s.dir, "sundry.access.log")), "/api/sfz") == 2
	})
	if log := readFile(t, filepath.Join(s.dir, "sundry.access.log")); strings.Contains(log, "card") {
		t.Errorf("the log holds an identity number:\n%s", log)
	}
}
