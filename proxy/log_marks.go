package proxy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"sundry/upstreams/catalog"
)

// MarkSecretBytes is how long the secret is that the marks in the log are made with.
const MarkSecretBytes = 32

// marks gives the keys of answers, and their contents, marks for the log, by which lines
// about the same are known. Marks say nothing to who does not have the secret; but who
// reads the log and asks for something himself learns its mark.
type marks struct{ hashes atomic.Pointer[sync.Pool] }

// with has marks made with a secret. Its hashes are kept: it costs as much to key one as to use it.
func (m *marks) with(secret [MarkSecretBytes]byte) {
	m.hashes.Store(&sync.Pool{New: func() any { return hmac.New(sha256.New, secret[:]) }})
}

// MarkWith has the log mark keys and contents with a secret from now on, so that the marks
// are those of an earlier process, and of the other instances. Before, the secret is a
// random one.
func (s *Server) MarkWith(secret [MarkSecretBytes]byte) { s.marks.with(secret) }

// RandomSecret is a secret to mark with.
func RandomSecret() (secret [MarkSecretBytes]byte) {
	_, _ = rand.Read(secret[:]) // never fails
	return secret
}

const (
	// keyMarkBytes are enough to tell millions of keys apart, and contentMarkBytes the
	// contents of one key.
	keyMarkBytes     = 8
	contentMarkBytes = 4
)

// ofKey is the mark of a key; "" of endpoints whose parameters are personal or secret.
func (m *marks) ofKey(e *catalog.Endpoint, key string) string {
	return m.of(e, keyMarkBytes, key)
}

// ofContent is the mark of a content, by its digest, and the same for no other key: it
// tells nobody which keys have the same content. It is "" where that of the key is.
func (m *marks) ofContent(e *catalog.Endpoint, key string, digest uint64) string {
	return m.of(e, contentMarkBytes, string(binary.BigEndian.AppendUint64([]byte{0}, digest))+key) // no key begins with a zero
}

func (m *marks) of(e *catalog.Endpoint, size int, text string) string {
	if e.Personal() || e.TakesSecrets() {
		return ""
	}
	hashes := m.hashes.Load()
	h := hashes.Get().(hash.Hash) //nolint:forcetypeassert // New makes these alone
	defer hashes.Put(h)
	h.Reset()
	_, _ = io.WriteString(h, text) // a hash takes everything
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:size])
}
