package web

import (
	"net/http"
	"slices"
)

// Request is what of a request the rules look at. Header is that of the caller.
type Request struct {
	Method string
	Header http.Header
	Directives
}

// NewRequest reads the directives of a request, unless the rules leave them out of account.
func NewRequest(r *http.Request, rules *Rules) *Request {
	q := &Request{Method: r.Method, Header: r.Header}
	if !rules.IgnoreCallers {
		q.Directives = RequestDirectives(r.Header)
	}
	return q
}

// understood reports whether this cache knows what the status says about caching: all that RFC 9110 defines, as final ones.
func understood(status int) bool {
	return http.StatusText(status) != "" && status != http.StatusNotModified
}

// Storable reports whether a response to a GET, or to a POST that says where its content is, may be stored and shared
// (RFC 9111, section 3). What is neither fresh nor can be validated is of no use, and is not.
func Storable(q *Request, r *Response, t *Terms, rules *Rules) bool {
	switch {
	case r.Status < 200 || r.Status == http.StatusNotModified:
		return false
	case t.MustUnderstand && !understood(r.Status), t.NoStore && !t.MustUnderstand, t.Private, q.NoStore:
		return false
	case r.Status == http.StatusPartialContent && r.Header.Get("Content-Range") == "":
		return false
	case q.Header["Authorization"] != nil && !t.Public && !t.MustRevalidate && !t.SMaxAge.Given:
		return false // section 3.5
	case len(r.Header["Set-Cookie"]) > 0 && (rules.NoCookies || !t.Explicit):
		return false
	case variesByAnything(r.Header):
		return false
	}
	_, byDefault := rules.Default[r.Status]
	return (t.Explicit || t.Public || byDefault || isHeuristic(r.Status)) && hasUse(r, t)
}

// hasUse reports whether what is stored can ever answer: while it is fresh, stale within a window, or once validated.
func hasUse(r *Response, t *Terms) bool {
	return t.Left(r.Received) > 0 && !t.NoCache || HasValidator(r.Header) || t.Explicit && t.WhileRevalidate+t.IfError > 0
}

// HasValidator reports whether a response says which version it is.
func HasValidator(h http.Header) bool { return h.Get("Etag") != "" || h.Get("Last-Modified") != "" }

// connection are the fields of one connection alone (RFC 9110, section 7.6.1), and those of a proxy's own dialogue with its
// neighbour (RFC 9111, section 3.1).
var connection = [...]string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Proxy-Authenticate",
	"Proxy-Authentication-Info", "Proxy-Authorization",
}

// RemoveConnectionFields removes the fields of one connection from a header, and those that Connection names.
func RemoveConnectionFields(h http.Header) {
	for name := range members(h["Connection"]) {
		delete(h, http.CanonicalHeaderKey(name))
	}
	for _, name := range connection {
		delete(h, name)
	}
}

// HasConnectionFields reports whether RemoveConnectionFields would remove any.
func HasConnectionFields(h http.Header) bool {
	return slices.ContainsFunc(connection[:], func(name string) bool { return h[name] != nil })
}

// RemoveUnshared removes the fields that may not be reused without validation, and those of one caller (RFC 9111, sections
// 5.2.2.4 and 5.2.2.7).
func (d *Directives) RemoveUnshared(h http.Header) {
	remove(h, d.NoCacheFields)
	remove(h, d.PrivateFields)
}

func remove(h http.Header, names []string) {
	for _, name := range names {
		delete(h, http.CanonicalHeaderKey(name))
	}
}

// Safe reports whether a method changes nothing at the origin (RFC 9110, section 9.2.1). Unknown ones may.
func Safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// Invalidates reports whether a response to a method makes what is stored for its target unusable (RFC 9111, section 4.4).
func Invalidates(method string, status int) bool {
	return !Safe(method) && status >= 200 && status < 400
}

// variesByAnything reports whether Vary has a member *: no other request selects that response (RFC 9111, section 4.1).
func variesByAnything(h http.Header) bool {
	for m := range members(h["Vary"]) {
		if m == "*" {
			return true
		}
	}
	return false
}
