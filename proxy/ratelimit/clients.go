package ratelimit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"net/netip"
)

// client is a number for an IPv4 address, or for the /64 of an IPv6 address, because one
// subscriber has at least that many addresses.
type client uint64

// clientOf an address. The numbers of IPv4 are in a range that is not allocated in
// IPv6.
func clientOf(a netip.Addr) client {
	b := a.As16()
	if a.Is4() || a.Is4In6() {
		return 0xffff<<32 | client(binary.BigEndian.Uint32(b[12:]))
	}
	return client(binary.BigEndian.Uint64(b[:8]))
}

// pseudonyms are the names by which instances tell each other of clients: their numbers,
// encrypted with a secret that the fleet shares through Redis. Who reads the names alone
// learns no addresses; who can read the secret as well can decrypt them. It is kept for as
// long as the fleet lives, because names are gone soon, and so an old secret protects none.
type pseudonyms struct {
	secret []byte
	cipher cipher.Block
}

func newPseudonyms() *pseudonyms {
	secret := make([]byte, aes.BlockSize)
	_, _ = rand.Read(secret) // never fails
	p, _ := pseudonymsBy(secret)
	return p
}

// pseudonymsBy refuses a secret of another size.
func pseudonymsBy(secret []byte) (*pseudonyms, error) {
	c, err := aes.NewCipher(secret)
	return &pseudonyms{secret, c}, err
}

func (p *pseudonyms) of(who client) string {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(who))
	p.cipher.Encrypt(b[:], b[:])
	return string(b[:])
}

// client is the one that has a name; false where it was made with another secret.
func (p *pseudonyms) client(name string) (client, bool) {
	if len(name) != aes.BlockSize {
		return 0, false
	}
	b := []byte(name)
	p.cipher.Decrypt(b, b)
	return client(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:]) == 0
}
