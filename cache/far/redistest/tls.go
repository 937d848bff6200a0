package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Certificate makes a certificate for 127.0.0.1 that signs itself, in one file
// together with its key.
func Certificate(t testing.TB) (file string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redistest"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "redis.pem")
	b := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TLS is options for Start with which the server speaks TLS beside, at the
// address, with a certificate of Certificate. Where redis-server was built
// without it, the test is skipped.
func TLS(t testing.TB, file string) (addr string, options []string) {
	t.Helper()
	require(t)
	// It always ends at once: with TLS it misses the certificate.
	said, _ := exec.Command("redis-server", "--port", "0", "--tls-port", "1").CombinedOutput()
	if strings.Contains(string(said), "Bad directive") {
		t.Skip("redis-server was built without TLS")
	}
	port := freePort(t)
	return "127.0.0.1:" + port, []string{"--tls-port", port, "--tls-cert-file", file, "--tls-key-file", file, "--tls-ca-cert-file", file}
}
