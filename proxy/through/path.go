package through

import (
	"net/http"
	"net/url"
	"strings"

	"sundry/proxy/uri"
)

// mayLeadUp reports whether a path at the origin, with its query, may lead beyond the address of the API.
func mayLeadUp(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return uri.MayLeadUp(path)
}

// PathOf returns the path of a request at the origin, in its one form, with its query. The store has responses by it, below the
// API's name.
func (h *Handler) PathOf(r *http.Request) string {
	path := cutPrefix(uri.Normal(r.URL).EscapedPath(), h.Prefix)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return h.Query.URI(path, r.URL.RawQuery, r.URL.ForceQuery)
}

// cutPrefix is an escaped path without a prefix, in any spelling: requests are routed by what it means.
func cutPrefix(path, prefix string) string {
	if rest, ok := strings.CutPrefix(path, prefix); ok {
		return rest
	}
	at := 0
	for range len(prefix) {
		if strings.HasPrefix(path[min(at, len(path)):], "%") {
			at += len("%2F") - 1
		}
		at++
	}
	if meant, err := url.PathUnescape(path[:min(at, len(path))]); err != nil || meant != prefix {
		return path
	}
	return path[at:]
}
