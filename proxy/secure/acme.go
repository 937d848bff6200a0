package secure

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

// ACME configures the certificates that an authority issues (RFC 8555).
type ACME struct {
	Hosts     []string // names in lower case
	Email     string
	Directory string // URL; "" means Let's Encrypt
	Cache     string // directory for keys and certificates
	Agent     string // User-Agent of requests to the authority
	Panics    *panics.Catcher
	Log       *slog.Logger
}

// Authority obtains certificates for its hosts, and renews them in time. Handshakes never wait for it.
type Authority struct {
	config  ACME
	manager *autocert.Manager
	issued  map[string]*atomic.Pointer[tls.Certificate] // by host
	local   *tls.Certificate                            // for localName
	ended   atomic.Bool                                 // requests to the authority fail from now on

	transport *http.Transport
}

// localName is the name that sundry health connects to.
const localName = "localhost"

// NewAuthority returns an authority that has no certificates yet. It answers challenges over TLS if TLSConfig has its Certificate and
// acme.ALPNProto, and over HTTP by Challenges on port 80.
func NewAuthority(c ACME) (*Authority, error) {
	if err := os.MkdirAll(c.Cache, 0o700); err != nil {
		return nil, err
	}
	local, err := selfSigned(localName)
	if err != nil {
		return nil, err
	}
	a := &Authority{config: c, local: local, transport: http.DefaultTransport.(*http.Transport).Clone(), issued: map[string]*atomic.Pointer[tls.Certificate]{}}
	for _, host := range c.Hosts {
		a.issued[host] = &atomic.Pointer[tls.Certificate]{}
	}
	client := &acme.Client{DirectoryURL: c.Directory, UserAgent: c.Agent, HTTPClient: &http.Client{Transport: a, Timeout: time.Minute}}
	a.manager = &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(c.Cache), HostPolicy: autocert.HostWhitelist(c.Hosts...), Email: c.Email, Client: client,
	}
	if c.Directory == "" {
		client.DirectoryURL = autocert.DefaultACMEDirectory
	}
	return a, nil
}

// RoundTrip implements http.RoundTripper for requests to the authority. They fail once Obtain has returned.
func (a *Authority) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.ended.Load() {
		return nil, context.Canceled
	}
	return a.transport.RoundTrip(r)
}

// The errors of handshakes.
var (
	errUnknownName = errors.New("the client asks for a name that is not in acme.hosts")
	errNotIssued   = errors.New("the certificate has not been issued yet")
)

// Certificate implements tls.Config.GetCertificate. It refuses names that are not in Hosts before it does anything else.
func (a *Authority) Certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	issued := a.issued[strings.ToLower(hello.ServerName)]
	switch {
	case hello.ServerName == localName:
		return a.local, nil
	case issued == nil:
		return nil, errUnknownName
	case slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}):
		return a.manager.GetCertificate(hello)
	}
	if cert := issued.Load(); cert != nil {
		return cert, nil
	}
	return nil, errNotIssued
}

// Names reports whether a host has a certificate, or will have one.
func (a *Authority) Names(host string) bool { return a.issued[host] != nil }

// Challenges returns a handler that answers the authority's HTTP challenges for the hosts, and passes other requests to next. Without
// it, only challenges over TLS are accepted from the authority.
func (a *Authority) Challenges(next http.Handler) http.Handler {
	answers := a.manager.HTTPHandler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if token, ok := strings.CutPrefix(r.URL.Path, "/.well-known/acme-challenge/"); ok {
			if r.Host = hostOf(r.Host); !isToken(token) { // it becomes the name of a file
				http.NotFound(w, r)
				return
			}
		}
		answers.ServeHTTP(w, r)
	})
}

// isToken reports whether a text may be the token of a challenge (RFC 8555, section 8.3).
func isToken(s string) bool {
	return s != "" && len(s) <= 128 && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

const (
	// renewedLook is how often Obtain looks for a renewed certificate. autocert renews it 30 days before it expires, or when a third of
	// its lifetime is left if that is later.
	renewedLook = 5 * time.Minute
	// Authorities allow few failures: Let's Encrypt five an hour for each host. autocert remembers a failure for a minute.
	firstRetry = 2 * time.Minute
	lastRetry  = time.Hour
	retryShare = 0.1
)

// Obtain obtains the certificate of a host and its successors, until ctx ends.
func (a *Authority) Obtain(ctx context.Context, host string) {
	var told time.Time // that it is late
	for retry := firstRetry; ctx.Err() == nil; {
		pause := renewedLook
		cert, err := a.request(ctx, host)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			a.config.Log.Error("no certificate was issued", "host", host, "retry", retry, "error", err)
			pause, retry = retry, min(2*retry, lastRetry)
		case a.use(host, cert):
			a.config.Log.Info("a certificate is in force", "host", host, "expires", cert.Leaf.NotAfter)
			fallthrough
		default:
			retry = firstRetry
			if now := time.Now(); isLate(cert.Leaf, now) && now.Sub(told) >= lastRetry { // autocert tells nobody
				a.config.Log.Error("a certificate has not been renewed; expected that the authority can be reached, and reaches this service", "host", host, "expires", cert.Leaf.NotAfter)
				told = now
			}
		}
		_ = jitter.Pause(ctx, pause, retryShare)
	}
	a.ended.Store(true)
	a.transport.CloseIdleConnections()
}

// isLate reports whether a certificate should have been renewed long ago: autocert begins when a third of its lifetime, or 30 days are left.
func isLate(cert *x509.Certificate, now time.Time) bool {
	return cert.NotAfter.Sub(now) < min(cert.NotAfter.Sub(cert.NotBefore)/4, 21*24*time.Hour)
}

// use puts the certificate of a host into force. It reports whether that is another one.
func (a *Authority) use(host string, cert *tls.Certificate) (changed bool) {
	before := a.issued[host].Swap(cert) // autocert makes a new value each time
	return before == nil || !before.Leaf.Equal(cert.Leaf)
}

// issued is the result of a request for a certificate.
type issued struct {
	cert *tls.Certificate
	err  error
}

// request returns the certificate of a host. It requests one from the authority if there is none in the cache. autocert takes no
// context, so request abandons the call when ctx ends.
func (a *Authority) request(ctx context.Context, host string) (*tls.Certificate, error) {
	done := make(chan issued, 1)
	a.config.Panics.Go(panics.Listener, func() {
		var i issued
		i.err = a.config.Panics.FuncErr(panics.Listener, func() (err error) {
			i.cert, err = a.manager.GetCertificate(&tls.ClientHelloInfo{ServerName: host, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}})
			return err
		})()
		done <- i
	})
	select {
	case i := <-done:
		return i.cert, i.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// selfSigned returns a certificate that nobody trusts.
func selfSigned(name string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
