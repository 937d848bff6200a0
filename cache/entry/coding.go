package entry

import "bytes"

// Coding is a content coding of RFC 9110.
type Coding uint8

// The codings, by rising preference.
const (
	Identity Coding = iota
	Gzip
	Zstd
)

// String is the coding's name in Content-Encoding; "" for identity.
func (c Coding) String() string { return [...]string{"", "gzip", "zstd"}[min(c, Zstd)] }

// Codings is a set of content codings; identity is always a member.
type Codings uint8

// With adds a coding.
func (s Codings) With(c Coding) Codings { return s | 1<<c }

// Has reports whether the coding is in the set.
func (s Codings) Has(c Coding) bool { return c == Identity || s&(1<<c) != 0 }

// Best is the preferred coding of the set.
func (s Codings) Best() Coding {
	for c := Zstd; c > Identity; c-- {
		if s.Has(c) {
			return c
		}
	}
	return Identity
}

// maxCodedRatio is the largest ratio of compressed to plain size that is kept.
const maxCodedRatio = 0.9

// Worthwhile returns what was compressed, without spare capacity, and nil if it is hardly
// smaller than the plain bytes, as for a picture.
func Worthwhile(compressed, plain []byte) []byte {
	if float64(len(compressed)) > maxCodedRatio*float64(len(plain)) {
		return nil
	}
	return bytes.Clone(compressed)
}
