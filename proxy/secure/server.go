package secure

import (
	"crypto/tls"
	"net/http"
	"time"
)

// certificateFunc returns the certificate for the name that a client asks for.
type certificateFunc = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// TLSConfig returns the settings of TLS. protocols are offered in addition to those of HTTP.
func TLSConfig(certificate certificateFunc, protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: certificate, NextProtos: append([]string{"h2", "http/1.1"}, protocols...),
	}
}

// HTTP2 returns the limits of HTTP/2 connections. All connections together may be as many as the listener admits, so each one is cheap.
func HTTP2() *http.HTTP2Config {
	return &http.HTTP2Config{
		// RFC 9113 recommends no less than 100, and a page needs no more. net/http ends a connection on which four times as many wait to
		// begin, so this also limits what a client gains by opening and resetting streams (CVE-2023-44487).
		MaxConcurrentStreams: 100,
		// The buffer of a connection is as long as its longest frame, by default up to 1 MiB.
		MaxReadFrameSize: 16 << 10,
		// A client may fill the table, and the server then stores it as long as the connection is open.
		MaxDecoderHeaderTableSize: 4 << 10,
		MaxEncoderHeaderTableSize: 4 << 10,
		// The part of uploads that arrives before the origin takes it.
		MaxReceiveBufferPerConnection: 512 << 10,
		MaxReceiveBufferPerStream:     256 << 10,
		// A client that takes nothing for this long has gone, or holds responses in memory on purpose.
		WriteByteTimeout: time.Minute,
	}
}
