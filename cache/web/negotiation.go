package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// maxNormalized is the length in bytes of the longest value that is normalised. Longer ones are compared as they are.
const maxNormalized = 1024

// negotiated returns the normalised value of a field by which clients negotiate: on one line, in order of preference, in lower case
// except the values of parameters, and without white space. false means that the field is another one, or that the value is long or not
// well-formed: then an origin may distinguish it from all others.
func negotiated(name string, lines []string) (text string, ok bool) {
	var isRange func(string) (string, bool)
	switch name {
	case "Accept":
		isRange = mediaRange
	case "Accept-Language":
		isRange = languageRange
	case codingField, "Accept-Charset":
		isRange = tokenRange
	default:
		return "", false
	}
	size := sizeOf(lines)
	if size > maxNormalized {
		return "", false
	}
	all, ok := parsePreferences(lines, isRange)
	if !ok {
		return "", false
	}
	slices.SortStableFunc(all, func(a, b preference) int {
		return cmp.Or(b.quality-a.quality, strings.Compare(a.what, b.what))
	})
	var b strings.Builder
	b.Grow(size)
	for i, p := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(p.what)
		if p.quality != 1000 {
			b.WriteString(weightMark + strconv.FormatFloat(float64(p.quality)/1000, 'f', -1, 64))
		}
	}
	return b.String(), true
}

// codingField is the request field that negotiates content codings.
const codingField = "Accept-Encoding"

// ReducedCodings returns which of br, gzip and zstd an Accept-Encoding accepts, in this order; "" means none of them. Hardly any origin has
// other content codings, and each other value of the field would be another variant.
func ReducedCodings(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	all, _ := parsePreferences(lines, tokenRange)
	var accepted []string
	for _, coding := range [...]string{"br", "gzip", "zstd"} {
		if slices.ContainsFunc(all, func(p preference) bool { return p.what == coding && p.quality > 0 }) {
			accepted = append(accepted, coding)
		}
	}
	return strings.Join(accepted, ", ")
}

// sizeOf returns the length of lines with what separates them.
func sizeOf(lines []string) (n int) {
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

// preference is a member of an Accept field: a range, and its weight in thousandths.
type preference struct {
	what    string
	quality int
}

// weightMark stands between a range and its weight. The weight 1 is left out.
const weightMark = ";q="

// parsePreferences reads the members of an Accept field. false means that one of them is empty, or not well-formed.
func parsePreferences(lines []string, isRange func(string) (string, bool)) (all []preference, ok bool) {
	all = make([]preference, 0, 1+strings.Count(lines[0], ","))
	for _, line := range lines {
		for m := range strings.SplitSeq(line, ",") {
			p := preference{quality: 1000}
			what := strings.Trim(m, " \t")
			if i := strings.LastIndexByte(what, ';'); i >= 0 {
				if q, weighted := cutFold(strings.Trim(what[i+1:], " \t"), "q="); weighted {
					if p.quality, ok = quality(q); !ok {
						return nil, false
					}
					what = strings.TrimRight(what[:i], " \t")
				}
			}
			if p.what, ok = isRange(what); !ok {
				return nil, false
			}
			all = append(all, p)
		}
	}
	return all, len(all) > 0
}

// cutFold is strings.CutPrefix for a prefix in any case.
func cutFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// quality reads a weight, in thousandths (RFC 9110, section 12.4.2).
func quality(s string) (n int, ok bool) {
	whole, part, _ := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(whole + part + "000"[len(part):])
	return n, err == nil && n <= 1000
}

// isToken reports whether a text is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool { return httpguts.ValidHeaderFieldName(s) }

// tokenRange normalises a content coding or a charset.
func tokenRange(s string) (string, bool) { return strings.ToLower(s), isToken(s) }

// languageRange normalises a language range (RFC 4647, section 2.1).
func languageRange(s string) (string, bool) {
	if s == "*" {
		return s, true
	}
	s = strings.ToLower(s)
	for i, tag := range strings.Split(s, "-") {
		other := func(c rune) bool { return (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') }
		if tag == "" || len(tag) > 8 || strings.ContainsFunc(tag, other) {
			return "", false
		}
	}
	return s, true
}

// mediaRange normalises a media range with its parameters (RFC 9110, section 12.5.1), whose values are tokens.
func mediaRange(s string) (string, bool) {
	what, parameters, more := strings.Cut(s, ";")
	what = strings.ToLower(strings.TrimRight(what, " \t"))
	kind, subtype, _ := strings.Cut(what, "/")
	if !isToken(kind) || !isToken(subtype) || kind == "*" && subtype != "*" {
		return "", false
	}
	for more {
		var p string
		p, parameters, more = strings.Cut(parameters, ";")
		name, value, _ := strings.Cut(strings.Trim(p, " \t"), "=")
		if !isToken(name) || !isToken(value) || strings.EqualFold(name, "q") {
			return "", false
		}
		what += ";" + strings.ToLower(name) + "=" + value
	}
	return what, true
}

// preferredLanguage returns the one language that a normalised Accept-Language prefers to all others; "" if there is none, or several.
func preferredLanguage(value string) string {
	if isDigest(value) {
		return ""
	}
	first, rest, more := strings.Cut(value, ",")
	second, _, _ := strings.Cut(rest, ",")
	language, weight, _ := strings.Cut(first, weightMark)
	_, next, _ := strings.Cut(second, weightMark)
	if language == "*" || weight == "0" || more && weight == next {
		return ""
	}
	return language
}

// listed returns the members of a list of tokens on one line, without white space, and all other lines as they are: then an origin may
// distinguish them from all others.
func listed(lines []string) []string {
	if len(lines) == 1 && !strings.Contains(lines[0], ",") || sizeOf(lines) > maxNormalized {
		return lines
	}
	var all []string
	for _, line := range lines {
		for m := range strings.SplitSeq(line, ",") {
			if m = strings.Trim(m, " \t"); !isToken(m) {
				return lines
			}
			all = append(all, m)
		}
	}
	return []string{strings.Join(all, ",")}
}
