package secure

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/acme"
)

// TestStrangersNames: a name that is not of hosts costs no call of the authority, and no file; and no handshake waits for one.
func TestStrangersNames(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	directory := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	t.Cleanup(directory.Close)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.example"), []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := NewAuthority(ACME{Hosts: []string{"a.example"}, Directory: directory.URL, Cache: dir})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"": errUnknownName, "c.example": errUnknownName, "a.example.": errUnknownName, "..": errUnknownName, "../a.example": errUnknownName, "127.0.0.1": errUnknownName,
		"a.example": errNotIssued, "A.Example": errNotIssued,
	} {
		if cert, err := a.Certificate(&tls.ClientHelloInfo{ServerName: name}); cert != nil || !errors.Is(err, want) {
			t.Errorf("%q: %v %v, want %v", name, cert, err, want)
		}
		if cert, err := a.Certificate(&tls.ClientHelloInfo{ServerName: name, SupportedProtos: []string{acme.ALPNProto}}); cert != nil || err == nil {
			t.Errorf("a challenge of %q: %v %v", name, cert, err)
		}
	}
	if cert, err := a.Certificate(&tls.ClientHelloInfo{ServerName: localName}); cert == nil || err != nil {
		t.Errorf("the health check: %v", err)
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("%d calls of the authority", n)
	}
}

// TestACertificateInForceIsLoggedOnce, not each time that it is looked for.
func TestACertificateInForceIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		cert, err := selfSigned("a.example")
		if err != nil {
			t.Fatal(err)
		}
		key, err := x509.MarshalECPrivateKey(cert.PrivateKey.(*ecdsa.PrivateKey))
		if err != nil {
			t.Fatal(err)
		}
		file := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: key}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})...)
		if err := os.WriteFile(filepath.Join(dir, "a.example"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		a, err := NewAuthority(ACME{Hosts: []string{"a.example"}, Directory: "http://127.0.0.1:1/", Cache: dir, Log: slog.New(slog.NewTextHandler(&lines, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		a.Obtain(ctx, "a.example")
		if n := strings.Count(lines.String(), "in force"); n != 1 || strings.Count(lines.String(), "\n") != 1 {
			t.Errorf("%d times: %s", n, &lines)
		}
		if got, err := a.Certificate(&tls.ClientHelloInfo{ServerName: "a.example"}); err != nil || !bytes.Equal(got.Certificate[0], cert.Certificate[0]) {
			t.Error(err)
		}
	})
}
