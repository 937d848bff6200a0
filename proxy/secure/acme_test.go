package secure

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
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

// keep writes a certificate of a.example, which is valid from now on, where autocert looks for it.
func keep(t *testing.T, dir string, lifetime time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"a.example"}, NotBefore: time.Now(), NotAfter: time.Now().Add(lifetime)}
	cert, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})...)
	if err := os.WriteFile(filepath.Join(dir, "a.example"), file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestWhatIsLoggedOfACertificate: that it is in force, once, and that it is not renewed, before it expires.
func TestWhatIsLoggedOfACertificate(t *testing.T) {
	const day = 24 * time.Hour
	for _, row := range []struct {
		lifetime, after time.Duration
		late            bool
	}{
		{90 * day, 65 * day, false}, {90 * day, 70 * day, true}, {365 * day, 340 * day, false}, {365 * day, 346 * day, true}, {6 * day, 4 * day, false}, {6 * day, 5 * day, true}, {6 * day, 7 * day, true},
	} {
		noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
		if got := isLate(&x509.Certificate{NotBefore: noon, NotAfter: noon.Add(row.lifetime)}, noon.Add(row.after)); got != row.late {
			t.Errorf("%v after %v: %v", row.lifetime, row.after, got)
		}
		if row.lifetime > 6*day { // it is looked for every five minutes
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			keep(t, dir, row.lifetime)
			var lines bytes.Buffer
			a, err := NewAuthority(ACME{Hosts: []string{"a.example"}, Directory: "http://127.0.0.1:1/", Cache: dir, Log: slog.New(slog.NewTextHandler(&lines, nil))})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), row.after)
			defer cancel()
			a.Obtain(ctx, "a.example")
			all := lines.String()
			late := strings.Count(all, "not been renewed")
			if strings.Count(all, "in force") != 1 || (late > 0) != row.late || late > int(row.after/time.Hour) || strings.Count(all, "\n") != 1+late {
				t.Errorf("%v after %v: %d lines that it is late: %.1000s", row.lifetime, row.after, late, all)
			}
			if got, err := a.Certificate(&tls.ClientHelloInfo{ServerName: "a.example"}); err != nil || got == nil {
				t.Error(err)
			}
		})
	}
}
