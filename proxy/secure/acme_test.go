package secure

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

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
