package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"sundry/upstreams/lib/peertest"
	"sundry/upstreams/lib/waittest"
)

// authority is an ACME authority (Pebble) that validates hosts on loopback.
type authority struct {
	directory  string
	management string
	bundle     string // file with the certificate of its API
	trust      *x509.CertPool
}

// newAuthority starts one that validates on these ports, given by addresses.
func newAuthority(t *testing.T, http01, alpn01 string) *authority {
	t.Helper()
	pebble := peertest.Tool(t, "../../deploy/tools", "pebble")
	dir := t.TempDir()
	trust := certificate(t, dir, "localhost")
	api, management := freeAddress(t), freeAddress(t)
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": api, "managementListenAddress": management, "certificate": filepath.Join(dir, "fullchain.pem"), "privateKey": filepath.Join(dir, "privkey.pem"),
		"httpPort": portOf(http01), "tlsPort": portOf(alpn01), "retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles": map[string]any{"default": map[string]any{"description": "for tests", "validityPeriod": 7776000}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	log := &output{}
	cmd := exec.Command(pebble, "-config", write(t, dir, "pebble.json", string(config)), "-dnsserver", nameServer(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s", log)
		}
	})
	a := &authority{directory: "https://localhost:" + fmt.Sprint(portOf(api)) + "/dir", management: "https://localhost:" + fmt.Sprint(portOf(management)), bundle: filepath.Join(dir, "fullchain.pem"), trust: trust}
	waittest.Until(t, "the authority serves", func() bool { _, err := a.get(a.management + "/roots/0"); return err == nil })
	return a
}

func (a *authority) get(url string) ([]byte, error) {
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.trust}, DisableKeepAlives: true}
	resp, err := (&http.Client{Transport: tr, Timeout: 5 * time.Second}).Get(url)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// root is the certificate that issued ones are trusted by.
func (a *authority) root(t *testing.T) *x509.CertPool {
	t.Helper()
	b, err := a.get(a.management + "/roots/0")
	block, _ := pem.Decode(b)
	if err != nil || block == nil {
		t.Fatalf("%s %v", b, err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(b)
	return pool
}

// nameServer answers by TCP that each name is on loopback, and returns its address.
func nameServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			answerNames(conn)
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}

// answerNames answers the queries of a connection.
func answerNames(conn net.Conn) {
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		var m dnsmessage.Message
		if _, err := io.ReadFull(conn, query); err != nil || m.Unpack(query) != nil || len(m.Questions) == 0 {
			return
		}
		m.Response, m.Additionals = true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}}}}
		}
		answer, err := m.Pack()
		if err != nil {
			return
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	}
}

// issuedTo makes a handshake for a name, and returns the certificate.
func issuedTo(address, name string, roots *x509.CertPool) (*x509.Certificate, error) {
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: 5 * time.Second}, "tcp", address, &tls.Config{ServerName: name, RootCAs: roots})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0], nil
}

// TestCertificatesAreIssued by both challenges, kept over a restart in files that only the owner reads, and not to other names.
func TestCertificatesAreIssued(t *testing.T) {
	t.Parallel()
	for challenge, byHTTP := range map[string]bool{"tls-alpn-01": false, "http-01": true} {
		t.Run(challenge, func(t *testing.T) {
			t.Parallel()
			secure, plain, dir := freeAddress(t), freeAddress(t), t.TempDir()
			settings, alpn01 := "", secure
			if byHTTP {
				settings, alpn01 = "redirect: "+plain+"\n", freeAddress(t) // nothing listens there
			}
			a := newAuthority(t, plain, alpn01)
			cache := filepath.Join(dir, "data", "acme")
			file := write(t, dir, "sundry.yaml", fmt.Sprintf("data: %s\nacme: {hosts: [a.example, b.example], email: ops@example.org, directory: '%s'}\n%s%s", filepath.Join(dir, "data"), a.directory, settings, only("ip")))
			start := func() *sibling {
				return startProgram(t, []string{"SSL_CERT_FILE=" + a.bundle}, "--replay", "--config", file, "--listen", secure)
			}
			m := start()
			roots := a.root(t)
			var first *x509.Certificate
			waittest.Until(t, "both certificates are in force", func() bool {
				var err, err2 error
				first, err = issuedTo(secure, "a.example", roots)
				_, err2 = issuedTo(secure, "B.example", roots)
				return err == nil && err2 == nil
			})
			if _, err := issuedTo(secure, "c.example", roots); err == nil || !strings.Contains(err.Error(), "remote error: tls") {
				t.Errorf("a name that is not in hosts: %v", err)
			}
			if out, _, err := call(t, nil, "health", "--config", file, "--listen", secure); err != nil {
				t.Errorf("health: %s %v", out, err)
			}
			checkModes(t, cache)
			m.kill()
			_ = m.cmd.Wait()
			start()
			waittest.Until(t, "the stored certificate is in force", func() bool {
				again, err := issuedTo(secure, "a.example", roots)
				if err == nil && !again.Equal(first) {
					t.Fatal("another certificate was requested")
				}
				return err == nil
			})
		})
	}
}

// checkModes reports files of a directory, and the directory, that others may read.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 3 {
		t.Fatalf("%v %v, want the account and two certificates", entries, err)
	}
	for _, path := range append([]os.DirEntry{nil}, entries...) {
		file, want := dir, os.FileMode(0o700)
		if path != nil {
			file, want = filepath.Join(dir, path.Name()), 0o600
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v, want %v", file, info.Mode(), err, want)
		}
	}
}
