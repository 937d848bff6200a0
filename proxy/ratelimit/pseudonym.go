package ratelimit

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// pseudonym stands for a client wherever it is stored or told of: a hash of its
// address, keyed with a secret. Under one secret it is the same on all instances.
type pseudonym uint64

// secretSize is the size of a stored secret in bytes.
const secretSize = 16

// secret is the key of the pseudonyms. A fleet shares one through Redis, so that who
// reads its reports alone learns no addresses; who can read the secret as well can
// try all addresses of IPv4. It is kept for as long as the fleet lives: reports are gone
// after seconds, so an old secret protects none, and with a new one every client
// would have its whole burst again.
type secret struct{ k0, k1 uint64 }

func newSecret() *secret {
	var b [secretSize]byte
	_, _ = rand.Read(b[:]) // never fails
	s, _ := parseSecret(b[:])
	return s
}

// parseSecret reads a stored secret; false for anything else.
func parseSecret(b []byte) (*secret, bool) {
	if len(b) != secretSize {
		return nil, false
	}
	return &secret{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}, true
}

func (s *secret) bytes() []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, s.k0), s.k1)
}

// pseudonymOf a client: an IPv4 address, or the /64 of an IPv6 address, because one
// subscriber has at least that many addresses.
func (s *secret) pseudonymOf(a netip.Addr) pseudonym { return pseudonym(s.hash(numberOf(a))) }

// tag tells secrets apart. No client has it for a pseudonym: it is that of a
// multicast network.
func (s *secret) tag() uint64 { return s.hash(^uint64(0)) }

// numberOf a client. The numbers of IPv4 are in a range that is not allocated in
// IPv6.
func numberOf(a netip.Addr) uint64 {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return 0xffff<<32 | uint64(binary.BigEndian.Uint32(b[12:]))
	}
	return binary.BigEndian.Uint64(b[:8])
}

// hash is SipHash-2-4 (Aumasson and Bernstein, 2012) of a number's eight bytes,
// little-endian. The standard library's keyed hashes either cannot be given a key
// (maphash) or cost several times as much as the rest of a decision (HMAC).
func (s *secret) hash(m uint64) uint64 {
	const last = 8 << 56 // the last block: the length, and no bytes that are left over
	v0, v1, v2, v3 := s.k0^0x736f6d6570736575, s.k1^0x646f72616e646f6d, s.k0^0x6c7967656e657261, s.k1^0x7465646279746573
	for round := range 8 {
		switch round {
		case 0:
			v3 ^= m
		case 2:
			v0 ^= m
			v3 ^= last
		case 4:
			v0 ^= last
			v2 ^= 0xff
		}
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	return v0 ^ v1 ^ v2 ^ v3
}
