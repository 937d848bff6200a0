package web

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"sundry/metrics/words"
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
	_, forbidden := forbids(q, r, t, rules)
	return !forbidden && mayLast(r, t, rules) && hasUse(r, t)
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

// forbids is what forbids to store a response, the first of the reasons.
func forbids(q *Request, r *Response, t *Terms, rules *Rules) (why words.Text, forbidden bool) {
	vary, err := varyFields(r.Header, rules.Ignored)
	switch {
	case !isComplete(r.Status):
		return words.Sayf("status %d is no whole answer", "状态码 %d 不是完整的响应", r.Status), true
	case RefusesOne(r.Status):
		return words.Sayf("status %d refuses this request alone", "状态码 %d 只是拒绝这一个请求", r.Status), true
	case t.MustUnderstand && !understood(r.Status):
		return words.Sayf("of must-understand with the unknown status %d", "声明了 must-understand，而状态码 %d 未知", r.Status), true
	case t.NoStore && !t.MustUnderstand:
		return words.Say("of no-store", "声明了 no-store"), true
	case t.Private:
		return words.Say("of private", "声明了 private"), true
	case q.NoStore:
		return words.Say("the request has no-store", "请求带有 no-store"), true
	case r.Status == http.StatusPartialContent && r.Header.Get("Content-Range") == "":
		return words.Say("a 206 without Content-Range is no part of anything", "206 没有 Content-Range，不知是哪一部分"), true
	case q.Header["Authorization"] != nil && !t.Public && !t.MustRevalidate && !t.SMaxAge.Given: // section 3.5
		return words.Say("the request has Authorization, and the answer has none of public, must-revalidate, s-maxage", "请求带有 Authorization，而响应没有 public、must-revalidate 或 s-maxage"), true
	case len(r.Header["Set-Cookie"]) > 0 && rules.NoCookies:
		return words.Say("it sets a cookie (cache: cookies: never)", "它设置了 Cookie（cache: cookies: never）"), true
	case len(r.Header["Set-Cookie"]) > 0 && (!t.Explicit || t.NoCache || t.Left(r.Received) <= 0):
		return words.Say("it sets a cookie, and is not fresh by what it says", "它设置了 Cookie，又没有声明尚未用完的保鲜期"), true
	case len(r.Header["Set-Cookie"]) > 0 && slices.Contains(vary, "Cookie"):
		return words.Say("it sets a cookie, and is selected by cookies (Vary)", "它设置了 Cookie，又按 Cookie 选取（Vary）"), true
	case t.ByDefault && rules.HasCredentials(q.Header):
		return words.Say("the request has a cookie or a key, the answer does not say how long it is fresh, and cache: default is only for requests without (cache: credentials)", "请求带有 Cookie 或密钥，响应没有声明保鲜期，而 cache: default 只用于不带它们的请求（cache: credentials）"), true
	case rules.HasCredentials(q.Header) && mayBeOfOne(r, t):
		return words.Say("the request has a cookie or a key, and but for its date the answer does not say how long it is fresh, or which one it is", "请求带有 Cookie 或密钥，而响应的保鲜期或版本只有日期可依"), true
	case errors.Is(err, errVaryAny):
		return words.Say("of Vary: *", "声明了 Vary: *"), true
	case errors.Is(err, errVaryToken):
		return words.Say("Vary has something that is no name of a field", "Vary 中有不是字段名的内容"), true
	case err != nil:
		return words.Sayf("Vary names more than %d fields", "Vary 列出的字段超过 %d 个", maxVary), true
	case q.Header[callersField] == nil && slices.Contains(vary, callersField):
		return words.Say("of Vary: X-Forwarded-For, which differs from caller to caller", "声明了 Vary: X-Forwarded-For，而它因来访者而异"), true
	case isDisguised(q.Header, vary):
		return words.Say("the request has a field of Vary with _ in the place of -, which an origin may take for it", "请求中有 Vary 所列的字段，但以 _ 代替了 -，源站可能把两者混为一谈"), true
	}
	return why, false
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
