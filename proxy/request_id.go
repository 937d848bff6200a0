package proxy

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// requestID names a request in its answer, in the log and for upstreams: the caller's
// X-Request-Id where that is short and of plain characters, else a random one. That
// becomes text only where text is needed.
type requestID struct {
	given  string
	random uint64
}

// requestIDOf takes the lines of X-Request-Id.
func requestIDOf(lines []string) requestID {
	if id := first(lines); id != "" && len(id) <= 64 && plainToken(id) {
		return requestID{given: id}
	}
	return requestID{random: rand.Uint64()}
}

func plainToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

func (id requestID) appendTo(b []byte) []byte {
	if id.given != "" {
		return append(b, id.given...)
	}
	var random [8]byte
	binary.LittleEndian.PutUint64(random[:], id.random)
	return hex.AppendEncode(b, random[:])
}

// String is the id as text.
func (id requestID) String() string {
	if id.given != "" {
		return id.given
	}
	var buf [16]byte
	return string(id.appendTo(buf[:0]))
}
