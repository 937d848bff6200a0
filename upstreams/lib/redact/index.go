package redact

import "strings"

// needle is what a text is searched for, in lower case and without blanks.
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

// mark notes which bytes of the original text, of that length, belong to a secret; nil means none. Blanks are skipped: base64 may
// have line breaks anywhere, for which others put spaces.
func (x *index) mark(l *layer, length int, secret []bool) []bool {
	var ends map[*needle]int // of the last occurrence of those that were found
	window, last := uint32(0), [prefix]int{-1, -1, -1}
	for i := skipBlanks(l.text, 0); i < len(l.text); i = skipBlanks(l.text, i+1) {
		window = window<<8 | uint32(lower(l.text[i]))
		last = [prefix]int{last[1], last[2], i}
		start, from := hashOf(window), last[0]
		if x.starts[start/64]&(1<<(start%64)) == 0 || from < 0 {
			continue
		}
		for _, n := range x.needles[start] {
			if from < ends[n] {
				continue
			}
			end, found := n.find(l.text, from)
			if !found {
				continue
			}
			if ends == nil {
				ends = map[*needle]int{}
			}
			ends[n] = end
			if secret == nil {
				secret = make([]bool, length)
			}
			for j := l.offset(from); j < l.offset(end); j++ {
				secret[j] = true
			}
		}
	}
	return secret
}

// find reports whether the needle is in a text at an offset, and where it ends there. Of a text that was cut, its beginning is enough.
func (n *needle) find(text string, at int) (end int, found bool) {
	if n.word && at > 0 && isAlphanumeric(text[at-1]) {
		return 0, false
	}
	end = at
	for i := range len(n.text) {
		next := skipBlanks(text, end)
		if next == len(text) || lower(text[next]) != n.text[i] {
			return end, i >= SecretMin && isCut(text, next)
		}
		end = next + 1
	}
	return end, !n.word || end == len(text) || !isAlphanumeric(text[end])
}

// isCut reports whether a text says that it was cut at an offset, by an ellipsis. Before that, an escape may have been cut in two.
func isCut(text string, at int) bool {
	if i := strings.LastIndexAny(text[max(at-longestReference, 0):min(at+1, len(text))], escapes); i >= 0 {
		i += max(at-longestReference, 0)
		at = max(at, i+halfEscape(text[i:]))
	}
	rest := strings.TrimPrefix(text[at:], " ")
	return strings.HasPrefix(rest, ellipsis) || strings.HasPrefix(rest, "...") || at > 0 && strings.HasPrefix(text[at-1:], "...")
}

// skipBlanks returns the offset behind the blanks and line breaks at an offset.
func skipBlanks(text string, at int) int {
	for at < len(text) && isBlank(text[at]) {
		at++
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// withoutBlanks returns a text without what skipBlanks skips.
func withoutBlanks(text string) string {
	var b strings.Builder
	for i := skipBlanks(text, 0); i < len(text); i = skipBlanks(text, i+1) {
		b.WriteByte(text[i])
	}
	return b.String()
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
