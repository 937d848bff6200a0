package far

import (
	"context"
	"net"
	"sync"
)

// cut closes the connections that are made with a context, because go-redis does not end what it reads from them when the context ends.
type cut struct {
	mu    sync.Mutex
	conns []net.Conn
	ended bool
}

type cutKey struct{}

// withCut returns a context whose connections can be cut.
func withCut(ctx context.Context) (context.Context, *cut) {
	c := &cut{}
	return context.WithValue(ctx, cutKey{}, c), c
}

// add adds a connection, or closes it if the others were cut.
func (c *cut) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		_ = conn.Close() // its reader gets an error
		return
	}
	c.conns = append(c.conns, conn)
}

// all closes the connections, and those that are made from now on.
func (c *cut) all() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, conn := range c.conns {
		_ = conn.Close() // its reader gets an error
	}
}

// cuttable returns a dialer whose connections can be cut by the context of their dial.
func cuttable(dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if c, ok := ctx.Value(cutKey{}).(*cut); ok && err == nil {
			c.add(conn)
		}
		return conn, err
	}
}
