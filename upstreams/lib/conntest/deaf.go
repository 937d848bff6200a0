// Package conntest has connections as tests want them.
package conntest

import (
	"net"
	"sync/atomic"
)

// Deaf is a connection through which nothing comes any more once it Is, as behind a router that has forgotten it.
type Deaf struct {
	net.Conn
	Is *atomic.Bool
}

// Read implements net.Conn.
func (c Deaf) Read(b []byte) (int, error) {
	for {
		if n, err := c.Conn.Read(b); err != nil || !c.Is.Load() {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c Deaf) Write(b []byte) (int, error) {
	if c.Is.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}
