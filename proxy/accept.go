package proxy

import (
	"strconv"
	"strings"

	"sundry/cache"
)

// acceptedCodings reads Accept-Encoding: a coding with q=0 is refused, "*"
// stands for those not named (RFC 9110, 12.5.3).
func acceptedCodings(header string) cache.Codings {
	var set, refused cache.Codings
	wild := false
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(item), ";")
		var coding cache.Coding
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "gzip", "x-gzip":
			coding = cache.Gzip
		case "zstd":
			coding = cache.Zstd
		case "*":
			wild = wanted(params)
			continue
		default:
			continue
		}
		if wanted(params) {
			set = set.With(coding)
		} else {
			refused = refused.With(coding)
		}
	}
	if wild {
		set |= cache.Codings(0).With(cache.Gzip).With(cache.Zstd) &^ refused
	}
	return set
}

// wanted is false for a weight of zero.
func wanted(params string) bool {
	_, q, found := strings.Cut(params, "q=")
	if !found {
		return true
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
	return err == nil && v > 0
}

// matches tells whether If-None-Match names the tag; the comparison is weak
// (RFC 9110, 13.1.2).
func matches(header, tag string) bool {
	if header == "" || tag == "" {
		return false
	}
	tag = strings.TrimPrefix(tag, "W/")
	for item := range strings.SplitSeq(header, ",") {
		item = strings.TrimSpace(item)
		if item == "*" || strings.TrimPrefix(item, "W/") == tag {
			return true
		}
	}
	return false
}
