package simulation

import (
	"context"
	"net"
	"sync"
)

// newListener returns a listener that nobody knows yet.
func newListener(address string) *listener {
	l := &listener{addr: addr(address), arrive: make(chan net.Conn, 64), done: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.done) })
	return l
}

// Network is the network of one instance.
type Network struct {
	address string
	mu      sync.Mutex
	own     map[string]*listener // of the instance, by address
	toRedis *link
	toWorld *link // to the origin, and from clients and operators
	servers map[string]*listener
}

// Listen opens a listener of the instance.
func (n *Network) Listen(address string) (net.Listener, error) {
	l := newListener(address)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.own[address] = l
	return l, nil
}

// Dial connects the instance to Redis, to a source or to an origin.
func (n *Network) Dial(ctx context.Context, _, address string) (net.Conn, error) {
	way := n.toWorld
	if address == redisAddress {
		way = n.toRedis
	}
	c, err := way.dial(ctx, n.address, n.servers[address])
	switch {
	case err != nil:
		return nil, err
	case address == redisAddress:
		return redisConn{c}, nil
	}
	return c, nil
}

// dialIn connects a client to a listener of the instance.
func (n *Network) dialIn(ctx context.Context, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.own[address]
	n.mu.Unlock()
	c, err := n.toWorld.dial(ctx, "127.0.0.1:50000", l)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// set replaces the faults of all ways of the instance.
func (n *Network) set(f faults) {
	n.toRedis.set(f)
	n.toWorld.set(f)
}
