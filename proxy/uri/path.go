package uri

import (
	"net/http"
	"net/url"
	"strings"

	"sundry/metrics/words"
)

// ErrPath is the error of a request whose path may lead up.
var ErrPath = words.NewError("the path has a segment .., which may lead out of what it is below; expected a path without, such as /a/b",
	"路径中有 .. 段，可能越出它所在的范围；请使用没有它的路径，例如 /a/b")

// Clean returns a request without the segments . of its path. It returns r itself if there are none.
func Clean(r *http.Request) *http.Request {
	u := WithoutDots(r.URL)
	if u == r.URL {
		return r
	}
	r = r.WithContext(r.Context())
	r.URL = u
	return r
}

// WithoutDots returns a URL without the segments . of its path, escaped or not. It returns u itself if there are none.
func WithoutDots(u *url.URL) *url.URL {
	if !strings.Contains(u.Path, "/.") {
		return u
	}
	path := u.RawPath
	if path == "" {
		path = u.EscapedPath()
	}
	short := RemoveDots(path)
	decoded, err := url.PathUnescape(short)
	if err != nil || short == path {
		return u
	}
	next := *u
	next.Path, next.RawPath = decoded, short
	return &next
}

// RemoveDots returns an escaped path without its segments ., which have no effect (RFC 3986, section 5.2.4).
func RemoveDots(path string) string {
	segments := strings.Split(path, "/")
	kept := segments[:1] // what stands before the first slash
	for i, s := range segments[1:] {
		switch {
		case s != "." && !strings.EqualFold(s, "%2e"):
			kept = append(kept, s)
		case i == len(segments)-2:
			kept = append(kept, "")
		}
	}
	return strings.Join(kept, "/")
}

// MayLeadUp reports whether an origin may read a segment .. in an escaped path, or . in a spelling that RemoveDots does not know. It
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
