package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// clientCertificate makes a certificate of a client and its key, both in PEM.
func clientCertificate(t *testing.T, name string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return encodePEM("CERTIFICATE", der), encodePEM("PRIVATE KEY", private)
}

func encodePEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// TestTLSOfAnAPI connects by the certificates that the file of the API names, and by others once they are saved: what was stored for the
// former client is not served to the API's clients then.
func TestTLSOfAnAPI(t *testing.T) {
	t.Parallel()
	origin := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		fmt.Fprintf(w, "%s over %s", r.TLS.PeerCertificates[0].Subject.CommonName, r.Proto)
	}))
	origin.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	origin.EnableHTTP2 = true
	origin.StartTLS()
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	save := func(name string) {
		cert, key := clientCertificate(t, name)
		write(t, dir, "client.pem", cert)
		write(t, dir, "client-key.pem", key)
	}
	save("first")
	write(t, dir, "ca.pem", encodePEM("CERTIFICATE", origin.Certificate().Raw))
	of := func(tls string) string {
		return "version: 1\nname: secure\nproxy: {to: '" + origin.URL + "', tls: {server_name: example.com, cert: client.pem, key: client-key.pem, " + tls + "}}\n"
	}
	write(t, dir, "secure.yaml", of("ca: ca.pem"))
	p := serve(t, "--catalog", dir)
	for range 2 {
		if _, body := mustGet(t, p.public+"/api/secure/"); body != "first over HTTP/2.0" {
			t.Errorf("%q", body)
		}
	}
	save("second")
	waittest.Until(t, "the new certificate is shown", func() bool {
		_, body := mustGet(t, p.public+"/api/secure/")
		return body == "second over HTTP/2.0"
	})
	if log := p.stderr.String(); strings.Contains(log, "PRIVATE KEY") {
		t.Errorf("the log has\n%s", log)
	}
	write(t, dir, "secure.yaml", of("verify: false"))
	if _, errs, err := call(t, onlyIn(t), "check", "--catalog", dir); err != nil || !strings.Contains(errs, "secure.yaml:2: proxy: tls: verify: false: whoever is between") {
		t.Errorf("%s %v", errs, err)
	}
}
