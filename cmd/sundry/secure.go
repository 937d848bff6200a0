package main

import (
	"crypto/tls"
	"errors"
	"time"

	"sundry/cmd/sundry/internal/config"
	"sundry/proxy/secure"
)

// openPair returns the certificate that the settings name, and open if its files are as they were; nil means that they name none.
func openPair(c *config.Config, open *secure.Pair) (*secure.Pair, error) {
	if err := c.CheckTLS(); err != nil || !c.Secure() {
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

// secured returns how the public listener speaks TLS; nil means that it does not.
func (s *server) secured() *secure.Config {
	if !s.config.Secure() {
		return nil
	}
	certificate := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.pair.Load().Certificate, nil }
	return &secure.Config{TLS: secure.TLSConfig(certificate), Track: s.listener.ConnState, Panics: s.panics, Log: s.log}
}
