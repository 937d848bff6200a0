package web

import (
	"net/http"
	"slices"
	"strings"
)

// conditions are the request fields that make a request conditional on what a cache may evaluate.
var conditions = [...]string{"If-None-Match", "If-Modified-Since"}

// Preconditions reports whether a request has conditions that only the origin may evaluate (RFC 9111, section 4.3.2): it
// is passed on as it is.
func Preconditions(h http.Header) bool {
	return h["If-Match"] != nil || h["If-Unmodified-Since"] != nil
}

// RemoveConditions removes those that a cache evaluates by itself: the answer to a request without them serves all who wait.
func RemoveConditions(h http.Header) {
	for _, name := range conditions {
		delete(h, name)
	}
}

// AddValidators makes a request conditional on what is stored: its own entity tag and date, or the tags of all variants, of
// which the origin selects one (RFC 9111, section 4.3.1). It then asks for the whole, from which a range is taken.
func AddValidators(h, stored http.Header, tags []string) {
	RemoveConditions(h)
	delete(h, "Range")
	delete(h, "If-Range")
	if len(tags) > 0 {
		h.Set("If-None-Match", strings.Join(tags, ", "))
		return
	}
	if tag := stored.Get("Etag"); tag != "" {
		h.Set("If-None-Match", tag)
	}
	if date := stored.Get("Last-Modified"); date != "" {
		h.Set("If-Modified-Since", date)
	}
}

// NotModified reports whether a conditional GET or HEAD is answered by 304 from a stored response with status 200 (RFC
// 9111, section 4.3.2; RFC 9110, section 13.2.2). Without Last-Modified, its Date stands for it.
func NotModified(request http.Header, stored *Response) bool {
	if lines, ok := request["If-None-Match"]; ok {
		return matchesAny(lines, stored.Header.Get("Etag"))
	}
	line, ok := first(request, "If-Modified-Since")
	if !ok {
		return false
	}
	since, valid := Date(line, stored.Received)
	if !valid {
		return false
	}
	modified, _ := first(stored.Header, "Last-Modified")
	last, ok := Date(modified, stored.Received)
	if !ok {
		last = dateOfResponse(stored)
	}
	return !last.After(since)
}

// matchesAny reports whether one of the tags of a field is a response's, by weak comparison (RFC 9110, section 8.8.3.2).
func matchesAny(lines []string, tag string) bool {
	for m := range members(lines) {
		if m == "*" || tag != "" && opaque(m) == opaque(tag) {
			return true
		}
	}
	return false
}

func opaque(tag string) string { return strings.TrimPrefix(tag, "W/") }

func isStrong(tag string) bool { return tag != "" && !strings.HasPrefix(tag, "W/") }

// SameRepresentation reports whether a 304 may be about a stored response (RFC 9111, section 4.3.4): it is not if it has
// another strong tag.
func SameRepresentation(notModified, stored http.Header) bool {
	tag := notModified.Get("Etag")
	return !isStrong(tag) || opaque(tag) == opaque(stored.Get("Etag"))
}

// describing are fields of the stored bytes, which a 304 does not change (RFC 9111, section 3.2).
var describing = [...]string{"Content-Length", "Content-Encoding", "Content-Range", "Content-Type"}

// Updated is a stored response's header with what a 304 says anew (RFC 9111, sections 3.2 and 4.3.4). Its Age is that of
// the 304, and so are its cookies: another caller's are stored. Its tag stays weak where that is all they differ in, and Vary
// has all that it had: what compresses responses often leaves a 304 the fields of what is not compressed.
func Updated(stored, notModified http.Header) http.Header {
	h := stored.Clone()
	delete(h, "Age")
	delete(h, "Set-Cookie")
	for name, lines := range notModified {
		if !slices.Contains(describing[:], name) || name == "Content-Type" && stored[name] == nil {
			h[name] = slices.Clone(lines)
		}
	}
	varies := map[string]bool{}
	for name := range members(h["Vary"]) {
		varies[strings.ToLower(name)] = true
	}
	for name := range members(stored["Vary"]) {
		if !varies[strings.ToLower(name)] {
			h["Vary"] = append(h["Vary"], name)
		}
	}
	if tag := stored.Get("Etag"); tag != "" && opaque(tag) == opaque(h.Get("Etag")) {
		h["Etag"] = []string{tag}
	}
	return h
}

// representation are fields that a 304 to a caller leaves out where it has a tag (RFC 9110, section 15.4.5).
var representation = [...]string{"Content-Length", "Content-Type", "Content-Encoding", "Content-Language", "Content-Range"}

// ForNotModified removes from a response's header what a 304 does not have.
func ForNotModified(h http.Header) {
	for _, name := range representation {
		delete(h, name)
	}
}

// HeadAgrees reports whether the response to a HEAD is about a stored response to GET, which it then updates; if not, that
// one is outdated (RFC 9111, section 4.3.5).
func HeadAgrees(head, stored http.Header) bool {
	for _, name := range [...]string{"Etag", "Last-Modified", "Content-Length"} {
		if v := head.Get(name); v != "" && v != stored.Get(name) {
			return false
		}
	}
	return true
}

// StatusIsTrouble reports whether a status to a validation means that a stale response may be served instead (RFC 5861,
// section 4).
func StatusIsTrouble(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
