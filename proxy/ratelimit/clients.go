package ratelimit

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"

	"sundry/cache/clients"
)

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

func (p *pseudonyms) of(who clients.ID) string {
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], uint64(who))
	p.cipher.Encrypt(b[:], b[:])
	return string(b[:])
}

// client is the one that has a name; false where it was made with another secret.
func (p *pseudonyms) client(name string) (clients.ID, bool) {
	if len(name) != aes.BlockSize {
		return clients.Nobody, false
	}
	b := []byte(name)
	p.cipher.Decrypt(b, b)
	return clients.ID(binary.BigEndian.Uint64(b)), binary.BigEndian.Uint64(b[8:]) == 0
}
