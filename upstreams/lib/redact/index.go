package redact

// needle is what a text is searched for, in lower case.
type needle struct {
	text string
	word bool // it counts only where neither a letter nor a digit is beside it
}

// index finds needles in a text in one pass, by their first two bytes.
type index struct {
	starts  [1 << 10]uint64 // a bit for each pair of bytes with which a needle begins
	needles map[uint16][]*needle
}

func indexOf(needles []needle) *index {
	x := &index{needles: make(map[uint16][]*needle, len(needles))}
	for i := range needles {
		n := &needles[i]
		start := pair(n.text[0], n.text[1])
		x.starts[start/64] |= 1 << (start % 64)
		x.needles[start] = append(x.needles[start], n)
	}
	return x
}

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// mark notes which bytes of the original text, of that length, belong to a secret; nil means none.
func (x *index) mark(l *layer, length int, secret []bool) []bool {
	var ends map[*needle]int // of the last occurrence of those that were found
	for i := range len(l.text) - 1 {
		start := pair(lower(l.text[i]), lower(l.text[i+1]))
		if x.starts[start/64]&(1<<(start%64)) == 0 {
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
