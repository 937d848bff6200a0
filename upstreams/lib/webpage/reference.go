package webpage

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	lineBreaks = strings.NewReplacer("\t", "", "\r", "", "\n", "")
	webScheme  = regexp.MustCompile(`(?i)^(https?):`)
	anyScheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)
)

// Reference parses a reference of a page as browsers do (https://url.spec.whatwg.org/):
// white space around it and line breaks in it are ignored, a backslash is a slash, the
// number of slashes before a host does not matter, and invalid characters are escaped.
func Reference(base *url.URL, ref string) (*url.URL, error) {
	ref = lineBreaks.Replace(strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' }))
	scheme := ""
	if m := webScheme.FindStringSubmatch(ref); m != nil {
		scheme, ref = strings.ToLower(m[1]), ref[len(m[0]):]
	} else if anyScheme.MatchString(ref) {
		return url.Parse(ref)
	}
	path, rest := ref, ""
	if at := strings.IndexAny(ref, "?#"); at >= 0 {
		path, rest = ref[:at], ref[at:]
	}
	path = strings.ReplaceAll(path, `\`, "/")
	withHost := strings.TrimLeft(path, "/")
	switch slashes := len(path) - len(withHost); {
	case scheme != "" && scheme != base.Scheme:
		path = scheme + "://" + withHost
	case slashes > 1:
		path = "//" + withHost
	}
	return base.Parse(Escape(path + rest))
}

// Escape percent-encodes what is not valid in a URL but common in links: spaces, text
// beyond ASCII in any charset, and percent signs that do not begin an escape.
func Escape(raw string) string {
	var b strings.Builder
	for i, c := range []byte(raw) {
		if c == ' ' || c > unicode.MaxASCII || c == '%' && !isEscape(raw[i:]) {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEscape(s string) bool {
	return len(s) > 2 && strings.Trim(s[1:3], "0123456789abcdefABCDEF") == ""
}
