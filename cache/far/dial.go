package far

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// dialer is the form in which go-redis takes one.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer connects as the URL says, for at most the timeout, the TLS handshake
// included: that of go-redis forgets the context there. A socket file is
// dialled whatever address is asked for.
func (o *options) dialer(timeout time.Duration) dialer {
	plain := net.Dialer{Timeout: timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if o.socket != "" {
			return plain.DialContext(ctx, "unix", o.socket)
		}
		if o.tls == nil {
			return plain.DialContext(ctx, network, addr)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		secure := tls.Dialer{NetDialer: &plain, Config: o.tls} // names the host that it checks
		return secure.DialContext(ctx, network, addr)
	}
}
