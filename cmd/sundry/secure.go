package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/acme"

	"sundry/cmd/sundry/internal/config"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/secure"
)

// openPair returns the certificate that the settings name; nil means that they name none. It returns open if the files have not changed.
func openPair(c *config.Config, open *secure.Pair) (*secure.Pair, error) {
	if err := c.CheckTLS(); err != nil || c.TLSCert == "" {
		return nil, misconfigured(err)
	}
	p, err := secure.ReadPair(c.TLSCert, c.TLSKey, open, time.Now())
	if m, ok := errors.AsType[secure.Mistake](err); ok {
		key := "tls.cert"
		if m.OfKey {
			key = "tls.key"
		}
		return nil, misconfigured(c.Mistake(key, m.What))
	}
	return p, err
}

// openCertificates reads the certificate that the settings name, or prepares to obtain the certificates of acme.hosts.
func (s *server) openCertificates() error {
	pair, err := openPair(s.config, nil)
	if err != nil {
		return err
	}
	s.pair.Store(pair)
	a := s.config.ACME
	if len(a.Hosts) == 0 {
		return nil
	}
	s.authority, err = secure.NewAuthority(secure.ACME{
		Hosts: a.Hosts, Email: a.Email, Directory: a.Directory, Cache: s.config.CertificateDir(), Agent: "Sundry/" + version(), Panics: s.panics, Log: s.log,
	})
	if err != nil {
		return misconfigured(s.config.Mistake("acme.cache", words.Failure(err)))
	}
	return nil
}

// secured returns the TLS configuration of the public listener; nil means that it does not speak TLS.
func (s *server) secured() *secure.Config {
	var c *tls.Config
	switch {
	case s.authority != nil:
		c = secure.TLSConfig(s.authority.Certificate, acme.ALPNProto)
	case s.pair.Load() != nil:
		c = secure.TLSConfig(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.pair.Load().Certificate, nil })
	default:
		return nil
	}
	return &secure.Config{TLS: c, Track: s.listener.ConnState, Panics: s.panics, Log: s.log}
}

// listenPlainly opens the listener that redirects to HTTPS, or uses the inherited one, if the settings have one.
func (s *server) listenPlainly(ctx context.Context, inherited []net.Listener) error {
	if s.config.Redirect == "" {
		return nil
	}
	l := s.listener.Another()
	if len(inherited) > 0 {
		l.Use(inherited[0])
	} else if err := l.Open(ctx, s.config.Redirect); err != nil {
		return errors.Join(s.cannotListen(ctx, "redirect", "redirect:", s.config.Redirect, err), s.listener.Close())
	}
	srv := newHTTPServer(s.redirects(), s.log)
	srv.SetKeepAlivesEnabled(false) // the next request of a client is for HTTPS
	s.plain = newPublic(srv, l, nil, nil)
	s.panics.Server(srv)
	s.plain.accepts = s.panics.Listener(s.plain.accepts)
	s.log.Info("redirecting to HTTPS", "listen", l.Addr().String())
	return nil
}

// redirects returns the handler of the listener that redirects to HTTPS.
func (s *server) redirects() http.Handler {
	port := strconv.Itoa(portOf(s.listener.Addr().String()))
	if s.authority != nil {
		return s.authority.Challenges(secure.Redirect(s.authority.Names, port))
	}
	return secure.Redirect(func(host string) bool { return s.pair.Load().Certificate.Leaf.VerifyHostname(host) == nil }, port)
}

// obtainCertificates starts to obtain and renew the certificates of acme.hosts, until ctx ends.
func (s *server) obtainCertificates(ctx context.Context, loops *sync.WaitGroup) {
	if s.authority == nil {
		return
	}
	for _, host := range s.config.ACME.Hosts {
		loops.Go(s.panics.Loop(ctx, panics.Listener, func(ctx context.Context) { s.authority.Obtain(ctx, host) }))
	}
}
