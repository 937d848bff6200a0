package proxy

import (
	"strconv"
	"strings"

	"sundry/cache/entry"
)

// acceptedCodings parses all lines of Accept-Encoding. What browsers and common
// clients send is known by heart.
func acceptedCodings(lines []string) entry.Codings {
	if len(lines) == 0 {
		return 0
	}
	gzip := entry.Codings(0).With(entry.Gzip)
	if len(lines) == 1 {
		switch lines[0] {
		case "identity":
			return 0
		case "gzip", "gzip, deflate", "gzip, deflate, br", "deflate, gzip":
			return gzip
		case "gzip, deflate, br, zstd":
			return gzip.With(entry.Zstd)
		}
	}
	return parseCodings(lines)
}

// parseCodings is acceptedCodings for any lines: a coding with q=0 is refused, "*"
// stands for those that are not named (RFC 9110, 12.5.3).
func parseCodings(lines []string) entry.Codings {
	var set, refused entry.Codings
	others := false // accepted, if not refused by name
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			coding, wildcard, ok := codingOf(strings.TrimSpace(name))
			switch {
			case !ok:
			case wildcard:
				others = acceptable(params)
			case acceptable(params):
				set = set.With(coding)
			default:
				refused = refused.With(coding)
			}
		}
	}
	if others {
		set |= entry.Codings(0).With(entry.Gzip).With(entry.Zstd)
	}
	return set &^ refused
}

// codingOf returns the coding of that name; wildcard is true for "*". ok is false
// for a coding that is not supported.
func codingOf(name string) (coding entry.Coding, wildcard, ok bool) {
	switch {
	case strings.EqualFold(name, "gzip"), strings.EqualFold(name, "x-gzip"):
		return entry.Gzip, false, true
	case strings.EqualFold(name, "zstd"):
		return entry.Zstd, false, true
	}
	return entry.Identity, true, name == "*"
}

// acceptable reports whether the weight is above zero.
func acceptable(params string) bool { return weight(params) > 0 }

// weight is the value of q, from 0 to 1; it is 1 where there is none, and 0 where it is
// not a number.
func weight(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, weight, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(weight), 64)
			if err != nil || !(q > 0) {
				return 0
			}
			return min(q, 1)
		}
	}
	return 1
}

// matches reports whether If-None-Match names the tag; the comparison is weak
// (RFC 9110, 13.1.2).
func matches(lines []string, tag string) bool {
	if len(lines) == 0 || tag == "" {
		return false
	}
	tag = strings.TrimPrefix(tag, "W/")
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			item = strings.TrimSpace(item)
			if item == "*" || strings.TrimPrefix(item, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// acceptedTypes are the weights that Accept gives to types that it names.
type acceptedTypes struct {
	image, json, page float64
	// anything is the weight of */*, and 1 where there is no Accept.
	anything float64
}

// weigh parses all lines of Accept (RFC 9110, 12.5.1).
func weigh(lines []string) acceptedTypes {
	var out acceptedTypes
	if len(lines) == 0 {
		out.anything = 1
	}
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			name, params, _ := strings.Cut(item, ";")
			if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
				out.add(name, weight(params))
			}
		}
	}
	return out
}

func (a *acceptedTypes) add(name string, q float64) {
	switch {
	case strings.HasPrefix(name, "image/"):
		a.image = max(a.image, q)
	case name == "application/json", strings.HasSuffix(name, "+json"):
		a.json = max(a.json, q)
	case name == "text/html", name == "application/xhtml+xml":
		a.page = max(a.page, q)
	case name == "*/*":
		a.anything = q
	}
}
