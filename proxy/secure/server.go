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

// HTTP2 returns the limits of an HTTP/2 connection. The listener admits many connections, so each must be cheap.
func HTTP2() *http.HTTP2Config {
	return &http.HTTP2Config{
		// RFC 9113 recommends no less than 100, and a page needs no more. net/http closes a connection with four times as many streams
		// that wait to begin, so this also limits what a client gains by opening and resetting streams (CVE-2023-44487).
		MaxConcurrentStreams: 100,
		// The buffer of a connection is as long as its longest frame, by default up to 1 MiB.
		MaxReadFrameSize: 16 << 10,
		// A client may fill the table, and the server then holds it as long as the connection is open.
		MaxDecoderHeaderTableSize: 4 << 10,
		MaxEncoderHeaderTableSize: 4 << 10,
		// These bytes of uploads arrive before the origin takes them.
		MaxReceiveBufferPerConnection: 512 << 10,
		MaxReceiveBufferPerStream:     256 << 10,
		// A client that reads nothing for this long has disconnected, or holds responses in memory on purpose.
		WriteByteTimeout: time.Minute,
	}
}
