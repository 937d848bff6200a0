// Package clients tells clients apart, and divides what is scarce among them, so that no client can take from the others
// what they need.
package clients

import (
	"context"
	"encoding/binary"
	"net/netip"
)

// ID is a client: an IPv4 address, or the /64 of an IPv6 address, because one subscriber has at least that many addresses.
// Nobody is work of the service itself, and requests of a proxy that names no client.
type ID uint64

// Nobody is the ID without a client.
const Nobody ID = 0

// Of returns the client of an address. The IDs of IPv4 are in a range that is not allocated in IPv6, and that of ::/64, in
// which ::1 is, is 1. The invalid address belongs to Nobody.
func Of(a netip.Addr) ID {
	b := a.As16()
	switch {
	case !a.IsValid():
		return Nobody
	case a.Is4() || a.Is4In6():
		return 0xffff<<32 | ID(binary.BigEndian.Uint32(b[12:]))
	}
	return max(ID(binary.BigEndian.Uint64(b[:8])), 1)
}

// Key is the key of a context's client. A context that answers for it without allocating compares the key with Key{}.
type Key struct{}

// With returns a context whose work is done for a client.
func With(ctx context.Context, id ID) context.Context { return context.WithValue(ctx, Key{}, id) }

// From returns the client for which the work of a context is done; Nobody if none was set.
func From(ctx context.Context) ID {
	id, _ := ctx.Value(Key{}).(ID)
	return id
}
