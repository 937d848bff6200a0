package web

import (
	"net/http"
	"slices"
	"strings"
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

// Storable reports whether a response may be stored and shared: see NotStored.
func Storable(q *Request, r *Response, t *Terms, rules *Rules) bool {
	return NotStored(q, r, t, rules) == MayBeStored
}

// isComplete reports whether a response with a status that net/http reads answers a request by itself.
func isComplete(status int) bool {
	return status >= 200 && status <= 999 && status != http.StatusNotModified && status != http.StatusRequestedRangeNotSatisfiable
}

// RefusesOne reports whether a status says something of one request, and nothing of others for the same URL: of its fields or its body, of
// how many its client has sent, or of its network (RFC 6585; RFC 8470, section 5.2; RFC 9110, section 15.5).
func RefusesOne(status int) bool {
	switch status {
	case http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusExpectationFailed, http.StatusTooEarly, http.StatusPreconditionRequired,
		http.StatusTooManyRequests, http.StatusRequestHeaderFieldsTooLarge, http.StatusNetworkAuthenticationRequired:
		return true
	}
	return false
}

// credentials are the request fields that may say who sends a request.
var credentials = [...]string{"Authorization", "Cookie", "X-Api-Key", "X-Auth-Token"}

// Credentials returns those fields.
func Credentials() []string { return slices.Clone(credentials[:]) }

// HasCredentials reports whether a request says to the origin who sends it. It is false where the operator says that this makes no
// other response.
func (rules *Rules) HasCredentials(request http.Header) bool {
	return rules.hasCredentials(header(request))
}

func (rules *Rules) hasCredentials(request Fields) bool {
	return !rules.CredentialsShared && slices.ContainsFunc(credentials[:], func(name string) bool {
		return len(request.Lines(name)) > 0 && !slices.Contains(rules.Replaced, name)
	})
}

// credentials returns those that the origin gets from clients.
func (rules *Rules) credentials() []string {
	return slices.DeleteFunc(Credentials(), func(name string) bool { return slices.Contains(rules.Replaced, name) })
}

// mayBeOfOne reports whether a response to a request with credentials may be for that client alone, as files are behind a login: of its
// date no freshness follows then, and those of others may have the same one.
func mayBeOfOne(r *Response, t *Terms) bool {
	switch {
	case t.Public:
		return false
	case t.NoCache, t.Left(r.Received) <= 0:
		return r.Header.Get("Etag") == ""
	}
	return !t.Explicit
}

// callersField has where a request comes from. The origin is sent it of each caller, also of those who are not heard about it and
// could not be told apart by it.
const callersField = "X-Forwarded-For"

// mayLast reports whether a response says for how long it is fresh, or need not.
func mayLast(r *Response, t *Terms, rules *Rules) bool {
	_, byDefault := rules.Default[r.Status]
	return t.Explicit || t.Public || byDefault || isHeuristic(r.Status)
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
	if !HasConnectionFields(h) {
		return
	}
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

// safe reports whether a method changes nothing at the origin: those that are registered as safe (IANA, HTTP Method Registry; RFC 9110,
// section 9.2.1). Unknown ones may.
func safe(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH":
		return true
	}
	return false
}

// Invalidates reports whether a response to a method makes what is stored for its target unusable (RFC 9111, section 4.4).
func Invalidates(method string, status int) bool {
	return !safe(method) && status >= 200 && status < 400
}

// Undisguised is the name of a field for which an origin that knows fields as CGI does, where _ and - are the same, takes this one.
// false: it has no other.
func Undisguised(name string) (plain string, ok bool) {
	if !strings.Contains(name, "_") {
		return "", false
	}
	return http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-")), true
}

// IsDisguised reports whether a request has a field that may be taken for one that selects a response: what an origin has made of both
// would be stored for the other one alone.
func (q *Request) IsDisguised(response http.Header, rules *Rules) bool {
	vary, _ := varyFields(response, rules.Ignored)
	return isDisguised(q.Header, vary)
}

func isDisguised(request http.Header, vary []string) bool {
	for name := range request {
		if plain, ok := Undisguised(name); ok && slices.Contains(vary, plain) {
			return true
		}
	}
	return false
}
