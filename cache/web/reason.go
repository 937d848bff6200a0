package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
)

// Reason says why a response is not stored. The zero value, MayBeStored, means that it may be.
type Reason uint8

const (
	// MayBeStored means that nothing keeps the response from being stored.
	MayBeStored Reason = iota
	// Incomplete means that the status is no response by itself, such as 304.
	Incomplete
	// RefusedAlone means that the status is about one request, such as 429.
	RefusedAlone
	// NotUnderstood means must-understand with a status that is unknown here.
	NotUnderstood
	// SaysNoStore means that the response has no-store.
	SaysNoStore
	// SaysPrivate means that the response has private.
	SaysPrivate
	// RequestNoStore means that the client does not want the response to be stored.
	RequestNoStore
	// PartOfNothing means a 206 without Content-Range.
	PartOfNothing
	// Authorized means that the request has Authorization, and the response does not say that it may be shared.
	Authorized
	// CookiesNever means that the response sets a cookie, and that Rules.NoCookies is set.
	CookiesNever
	// CookieWithoutLifetime means that the response sets a cookie, and is not fresh by its own directives.
	CookieWithoutLifetime
	// CookieByCookie means that the response sets a cookie, and that its Vary names Cookie.
	CookieByCookie
	// DefaultWithCredentials means that the request has credentials, and that only Rules.Default makes the response fresh.
	DefaultWithCredentials
	// UndeclaredWithCredentials means that the request has credentials, and that only the date of the response makes it fresh, or identifies it.
	UndeclaredWithCredentials
	// VaryAny means that Vary has *.
	VaryAny
	// VaryMalformed means that Vary has something that is not the name of a field.
	VaryMalformed
	// VaryMany means that Vary has too many names.
	VaryMany
	// VaryByClient means that Vary names X-Forwarded-For, which differs between clients.
	VaryByClient
	// Disguised means that the request has a field of Vary with _ in the place of -.
	Disguised
	// InManyGroups means that the response is in more cache groups than are allowed.
	InManyGroups
	// StatusWithoutLifetime means that responses with this status are stored only if they state their lifetime.
	StatusWithoutLifetime
	// SaysNothing means that the response has no Cache-Control, no lifetime, and no validator.
	SaysNothing
	// WithoutLifetime means that the response has Cache-Control, but no lifetime and no validator.
	WithoutLifetime
	// NeverFresh means that the response is stale when it arrives, or has no-cache, and has no validator.
	NeverFresh
	// TooLarge means that the body exceeds the size limit. NotStored does not return it, because it does not see the body.
	TooLarge
)

// NotStored returns the first reason for which a response to a GET, or to a POST that says where its content is, may not be stored and
// shared (RFC 9111, section 3). A response that is neither fresh nor can be validated is of no use.
func NotStored(q *Request, r *Response, t *Terms, rules *Rules) Reason {
	if reason := cmp.Or(forbiddenByStatus(r, t), forbiddenByDirective(q, r, t)); reason != MayBeStored {
		return reason
	}
	vary, err := varyFields(r.Header, rules.Ignored) // only now, because a long Vary takes time
	return cmp.Or(forbiddenByCookie(r, t, rules, vary), forbiddenByCredentials(q, r, t, rules), forbiddenByVary(q, vary, err), useless(r, t, rules))
}

// forbiddenByStatus returns the reason in the status of a response.
func forbiddenByStatus(r *Response, t *Terms) Reason {
	switch {
	case !isComplete(r.Status):
		return Incomplete
	case RefusesOne(r.Status):
		return RefusedAlone
	case t.MustUnderstand && !understood(r.Status):
		return NotUnderstood
	}
	return MayBeStored
}

// forbiddenByDirective returns the reason in the directives of the request and the response.
func forbiddenByDirective(q *Request, r *Response, t *Terms) Reason {
	switch {
	case t.NoStore && !t.MustUnderstand:
		return SaysNoStore
	case t.Private:
		return SaysPrivate
	case q.NoStore:
		return RequestNoStore
	case r.Status == http.StatusPartialContent && r.Header.Get("Content-Range") == "":
		return PartOfNothing
	case len(GroupsIn(r.Header["Cache-Groups"])) > maxGroups:
		return InManyGroups
	case q.Header["Authorization"] != nil && !t.Public && !t.MustRevalidate && !t.SMaxAge.Given: // section 3.5
		return Authorized
	}
	return MayBeStored
}

// forbiddenByCookie returns the reason in a cookie that the response sets.
func forbiddenByCookie(r *Response, t *Terms, rules *Rules, vary []string) Reason {
	switch {
	case len(r.Header["Set-Cookie"]) == 0:
		return MayBeStored
	case rules.NoCookies:
		return CookiesNever
	case !t.Explicit || t.NoCache || t.Left(r.Received) <= 0:
		return CookieWithoutLifetime
	case slices.Contains(vary, "Cookie"):
		return CookieByCookie
	}
	return MayBeStored
}

// forbiddenByCredentials returns the reason in credentials of the request.
func forbiddenByCredentials(q *Request, r *Response, t *Terms, rules *Rules) Reason {
	switch {
	case !rules.HasCredentials(q.Header):
		return MayBeStored
	case t.ByDefault:
		return DefaultWithCredentials
	case mayBeOfOne(r, t):
		return UndeclaredWithCredentials
	}
	return MayBeStored
}

// forbiddenByVary returns the reason in the Vary of the response. err is that of varyFields.
func forbiddenByVary(q *Request, vary []string, err error) Reason {
	switch {
	case errors.Is(err, errVaryAny):
		return VaryAny
	case errors.Is(err, errVaryToken):
		return VaryMalformed
	case err != nil:
		return VaryMany
	case q.Header[callersField] == nil && slices.Contains(vary, callersField):
		return VaryByClient
	case isDisguised(q.Header, vary):
		return Disguised
	}
	return MayBeStored
}

// useless returns the reason for which a stored response could never answer a request: its lifetime is not known, or it is neither fresh
// nor can be validated.
func useless(r *Response, t *Terms, rules *Rules) Reason {
	_, byDefault := rules.Default[r.Status]
	switch {
	case !mayLast(r, t, rules):
		return StatusWithoutLifetime
	case hasUse(r, t):
		return MayBeStored
	case t.Explicit || t.NoCache || byDefault || t.Lifetime > 0:
		return NeverFresh
	case len(r.Header["Cache-Control"]) > 0:
		return WithoutLifetime
	}
	return SaysNothing
}
