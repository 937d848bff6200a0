package redact

// needle is what a text is searched for, in lower case.
type needle struct {
	text string
	word bool // it counts only where neither a letter nor a digit is beside it
}

// index finds needles in a text in one pass, by hashes of their first bytes, of which there are at least prefix.
type index struct {
	starts  [1 << 10]uint64 // a bit for each hash
	needles map[uint16][]*needle
}

// prefix is short enough for all needles: none is shorter than SecretMin.
const prefix = 3

func indexOf(needles []needle) *index {
	x := &index{needles: make(map[uint16][]*needle, len(needles))}
	for i := range needles {
		n := &needles[i]
		window := uint32(0)
		for _, c := range []byte(n.text[:prefix]) {
			window = window<<8 | uint32(c)
		}
		start := hashOf(window)
		x.starts[start/64] |= 1 << (start % 64)
		x.needles[start] = append(x.needles[start], n)
	}
	return x
}

// hashOf is the hash of the last prefix bytes of a window.
func hashOf(window uint32) uint16 { return uint16((window << 8) * 2654435761 >> 16) }

// mark notes which bytes of the original text, of that length, belong to a secret; nil means none.
func (x *index) mark(l *layer, length int, secret []bool) []bool {
	var ends map[*needle]int // of the last occurrence of those that were found
	window := uint32(0)
	for end := range len(l.text) {
		window = window<<8 | uint32(lower(l.text[end]))
		start, i := hashOf(window), end-prefix+1
		if x.starts[start/64]&(1<<(start%64)) == 0 || i < 0 {
			continue
		}
		for _, n := range x.needles[start] {
			if i < ends[n] || !n.isAt(l.text, i) {
				continue
			}
			if ends == nil {
				ends = map[*needle]int{}
			}
			ends[n] = i + len(n.text)
			if secret == nil {
				secret = make([]bool, length)
			}
			for j := l.offset(i); j < l.offset(ends[n]); j++ {
				secret[j] = true
			}
		}
	}
	return secret
}

// isAt reports whether the needle is in a text at an offset.
func (n *needle) isAt(text string, at int) bool {
	end := at + len(n.text)
	if end > len(text) {
		return false
	}
	for i := range len(n.text) {
		if lower(text[at+i]) != n.text[i] {
			return false
		}
	}
	return !n.word || (at == 0 || !isAlphanumeric(text[at-1])) && (end == len(text) || !isAlphanumeric(text[end]))
}

// lower is the lower case of an ASCII letter. It leaves other bytes as they are, so that offsets stay the same.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func isAlphanumeric(c byte) bool {
	c = lower(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}
