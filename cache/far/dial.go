package far

import (
	"context"
	"net"
)

// dialer is the form in which go-redis takes one.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// unixDialer connects to a socket file, whatever address is asked for.
func unixDialer(path string) dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}
