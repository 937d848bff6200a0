package proxy

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"

	"sundry/upstreams/catalog"
)

// keyMarks gives the keys of answers marks for the log, by which lines about the same
// key are known. Marks say nothing of the key to who does not have the secret, which
// is made anew at every start; but who reads the log and asks for something himself
// learns its mark.
type keyMarks struct{ secret [32]byte }

func newKeyMarks() (m keyMarks) {
	_, _ = rand.Read(m.secret[:]) // never fails
	return m
}

// markBytes are enough to tell millions of keys apart.
const markBytes = 8

// of is the mark of a key; "" of endpoints whose parameters are personal or secret.
func (m *keyMarks) of(e *catalog.Endpoint, key string) string {
	if e.Personal() || e.TakesSecrets() {
		return ""
	}
	h := hmac.New(sha256.New, m.secret[:])
	h.Write([]byte(key))
	return hex.EncodeToString(h.Sum(nil)[:markBytes])
}
