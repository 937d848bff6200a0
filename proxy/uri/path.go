package uri

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"sundry/metrics/words"
)

// ErrPath is the error of a request whose path may lead up.
var ErrPath = words.NewError("the path has a segment .., which may lead out of what it is below; expected a path without, such as /a/b",
	"路径中有 .. 段，可能越出它所在的范围；请使用没有它的路径，例如 /a/b")

// Clean returns a request whose path has its one form; see Normalize. It returns r itself if the path has it already.
func Clean(r *http.Request) *http.Request {
	u := Normal(r.URL)
	if u == r.URL {
		return r
	}
	r = r.WithContext(r.Context())
	r.URL = u
	return r
}

// Normal returns a URL whose path has its one form. It returns u itself if the path has it already.
func Normal(u *url.URL) *url.URL {
	if u.RawPath == "" && !strings.Contains(u.Path, "/.") { // net/url sets RawPath if a path is escaped otherwise than it would
		return u
	}
	written := cmp.Or(u.RawPath, u.EscapedPath())
	path := Normalize(written)
	decoded, err := url.PathUnescape(path)
	if err != nil || path == written {
		return u
	}
	next := *u
	next.Path, next.RawPath = decoded, path
	return &next
}

// Normalize returns the one form of an escaped path (RFC 3986, section 6.2.2). In it, unreserved octets stand for themselves, other
// escapes have upper-case digits, and what may not stand in a path is escaped. There are no segments ".", which have no effect. Other
// octets stay as they are: %2F is not a slash.
func Normalize(path string) string {
	const upperHex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(path))
	for i := 0; i < len(path); i++ {
		octet, escaped := path[i], false
		if octet == '%' {
			if octet, escaped = octetOf(path[i+1:]); escaped {
				i += len("41")
			} else {
				octet = '%'
			}
		}
		if isUnreserved(octet) || !escaped && strings.IndexByte("%/!$&'()*+,;=:@[]", octet) >= 0 {
			b.WriteByte(octet)
		} else {
			_, _ = b.Write([]byte{'%', upperHex[octet>>4], upperHex[octet&15]}) // never fails
		}
	}
	return removeDots(b.String())
}

// removeDots returns a path without its segments ".".
func removeDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(path, "/")
	kept := segments[:1] // what stands before the first slash
	for i, s := range segments[1:] {
		switch {
		case s != ".":
			kept = append(kept, s)
		case i == len(segments)-2:
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}

// MayLeadUp reports whether an origin may read a segment .. in an escaped path, or . in a spelling that Normalize does not know. It
// reads the path as the most lenient origin does, with parameters of segments (which servlets remove), with spaces and control
// characters, with escaped slashes and escapes of escapes.
func MayLeadUp(path string) bool {
	if !strings.Contains(path, "/.") && !strings.ContainsAny(path, `%\`) {
		return false
	}
	for segment := range strings.SplitSeq(leniently(path), "/") {
		if end := strings.IndexFunc(segment, endsSegment); end >= 0 {
			segment = segment[:end]
		}
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

func endsSegment(r rune) bool { return r == ';' || r <= ' ' }

// lenient are other spellings of a slash and a dot, also those that UTF-8 forbids.
var lenient = strings.NewReplacer(`\`, "/", "\xc0\xaf", "/", "\xc1\x9c", "/", "\xc0\xae", ".", "\xe0\x80\xae", ".")

// leniently decodes a path, escapes of escapes too: %252e is a dot.
func leniently(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		octet := path[i]
		if octet == '%' {
			end := i + 1
			for strings.HasPrefix(path[end:], "25") {
				end += len("25")
			}
			if o, ok := octetOf(path[end:]); ok {
				octet, i = o, end+1
			}
		}
		b.WriteByte(octet)
	}
	return lenient.Replace(b.String())
}
