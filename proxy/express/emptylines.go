package express

import "bytes"

// maxEmptyLines limits the empty lines that are ignored. net/http refuses what follows.
const maxEmptyLines = 8

// emptyLines ignores empty lines before the first request of a connection (RFC 9112, section 2.2), which net/http refuses.
type emptyLines struct{ ignored int }

// skip returns what follows the empty lines at the beginning of b.
func (e *emptyLines) skip(b []byte) []byte {
	for e.ignored < maxEmptyLines {
		rest, ok := bytes.CutPrefix(bytes.TrimPrefix(b, []byte("\r")), []byte("\n"))
		if !ok {
			break
		}
		b = rest
		e.ignored++
	}
	return b
}

// expects reports whether b, which skip has returned, may be the beginning of another empty line.
func (e *emptyLines) expects(b []byte) bool {
	return len(b) == 0 || string(b) == "\r" && e.ignored < maxEmptyLines
}
