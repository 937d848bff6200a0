package web

import (
	"iter"
	"net/http"
	"strings"
	"time"
)

// members are those of the list in field lines, trimmed; empty ones are left out (RFC 9110, section 5.6.1). Commas in quoted
// strings separate nothing.
func members(lines []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for m := range splitOutsideQuotes(line, ',') {
				if m = strings.Trim(m, " \t"); m != "" && !yield(m) {
					return
				}
			}
		}
	}
}

// splitOutsideQuotes splits at a separator outside quoted strings. A quoted string that does not end reaches to the end.
func splitOutsideQuotes(s string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		quoted, start := false, 0
		for i := 0; i < len(s); i++ {
			switch {
			case quoted && s[i] == '\\':
				i++
			case s[i] == '"':
				quoted = !quoted
			case s[i] == separator && !quoted:
				if !yield(s[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(s[start:])
	}
}

// unquote is the content of a quoted string, or the text as it is.
func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// first is the first line of a field, and whether there is one.
func first(h http.Header, name string) (value string, ok bool) {
	if lines := h[name]; len(lines) > 0 {
		return lines[0], true
	}
	return "", false
}

// maxSeconds is what a number of seconds counts for that is too large (RFC 9111, section 1.2.2).
const maxSeconds = 1<<31 - 1

// seconds reads delta-seconds: digits alone (RFC 9111, section 1.2.2).
func seconds(s string) (d time.Duration, ok bool) {
	if s == "" {
		return 0, false
	}
	var n int64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		if n = n*10 + int64(c-'0'); n > maxSeconds {
			n = maxSeconds
		}
	}
	return time.Duration(n) * time.Second, true
}
