package through

import (
	"cmp"
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

// relocate makes a Location at the address that was asked one below this API: callers need not reach that, and would get past here. One
// of another scheme or address stays, or who is told to use TLS would come back here again and again.
func (h *Handler) relocate(fields http.Header, asked *Target) {
	u, err := url.Parse(fields.Get("Location"))
	if err != nil || !asked.isAt(u) {
		return
	}
	path, ok := asked.below(cmp.Or(u.EscapedPath(), "/"))
	if ok && h.Prefix != "" && strings.HasPrefix(path, h.Prefix+"/") {
		return // it knows where callers reach it
	}
	if path = h.Prefix + path; !ok || strings.HasPrefix(path, "//") { // which would be another host
		return
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if u.Fragment != "" {
		path += "#" + u.EscapedFragment()
	}
	fields["Location"] = []string{path}
}
