package web

import (
	"net/http"
	"slices"
	"time"
)

// Response is a response as a cache has received it.
type Response struct {
	Status int
	Header http.Header
	// Requested is when the request was sent, Received when the head was read.
	Requested, Received time.Time
}

// Rules are what an operator decides for responses that do not say it themselves, or more narrowly than they do. The zero
// value adds nothing to what responses say.
type Rules struct {
	// Origin says who answers, and how callers are told apart: nothing is found, in Redis or in a file, that was kept under another one.
	Origin string
	// Targets are the canonical names of the fields that stand in the place of Cache-Control, the first one that is there.
	Targets []string
	// Default is how long a response is fresh that says nothing, by its status; instead of a heuristic. It is only for requests without
	// credentials.
	Default map[int]time.Duration
	// CredentialsShared says that credentials of a request make no other response. Replaced are the request fields that the origin
	// never gets from clients.
	CredentialsShared bool
	Replaced          []string
	// HeuristicShare is the part of a response's age since its last change that it is fresh for where it says nothing
	// (RFC 9111, section 4.2.2), at most HeuristicMost; 0: none.
	HeuristicShare float64
	HeuristicMost  time.Duration
	// Most bounds all lifetimes; 0: they have no bound.
	Most time.Duration
	// StaleWhileRevalidate and StaleIfError are the windows of responses that have none of their own and forbid none.
	StaleWhileRevalidate, StaleIfError time.Duration
	// IgnoreCallers leaves Cache-Control and Pragma of requests out of account.
	IgnoreCallers bool
	// NoCookies stores no response that sets a cookie.
	NoCookies bool
	// Ignored are names that count in no Vary, Tags those of the fields with tags for purges; both canonical.
	Ignored, Tags []string
	// Languages answers with what is stored in a caller's preferred language, where the origin negotiates it.
	Languages bool
	// ReduceCodings selects responses by the ReducedCodings of Accept-Encoding.
	ReduceCodings bool
}

// heuristic are the statuses that are cacheable by default (RFC 9110, section 15.1).
var heuristic = [...]int{200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501}

func isHeuristic(status int) bool { return slices.Contains(heuristic[:], status) }

// UsualStatuses are those of responses that may be kept although they say nothing, and are about no part and no mistake of a request.
func UsualStatuses() []int {
	return slices.DeleteFunc(slices.Clone(heuristic[:]), func(status int) bool {
		return status == http.StatusPartialContent || status >= http.StatusBadRequest && status != http.StatusNotFound && status != http.StatusGone
	})
}

// Terms are what a response is stored under: they follow from it and from the rules, and do not change.
type Terms struct {
	Directives
	// Born is when it was made by the origin, as far as can be known: its age at a time is the time since.
	Born time.Time
	// Lifetime is for how long it is fresh, from Born on. Explicit means that the response says so, ByDefault that Rules.Default does and
	// the response does not say that it is public.
	Lifetime            time.Duration
	Explicit, ByDefault bool
	// WhileRevalidate and IfError are for how long after that it may be served in these cases (RFC 5861); 0: not.
	WhileRevalidate, IfError time.Duration
}

// TermsOf reads the terms of a response.
func TermsOf(r *Response, rules *Rules) Terms {
	t := Terms{}
	var targeted bool
	t.Directives, targeted = responseDirectives(r.Header, rules.Targets)
	t.Born = r.Received.Add(-initialAge(r))
	t.Lifetime, t.Explicit = t.lifetime(r, rules, targeted)
	_, byDefault := rules.Default[r.Status]
	t.ByDefault = byDefault && !t.Explicit && !t.Public
	if rules.Most > 0 {
		t.Lifetime = min(t.Lifetime, rules.Most)
	}
	if t.neverStale() {
		return t
	}
	// An explicit window stands beside s-maxage, which by itself forbids one (section 5.2.2.10): everybody writes both.
	t.WhileRevalidate, t.IfError = t.StaleWhileRevalidate.For, t.StaleIfError.For
	if t.SMaxAge.Given {
		return t
	}
	if !t.StaleWhileRevalidate.Given {
		t.WhileRevalidate = rules.StaleWhileRevalidate
	}
	if !t.StaleIfError.Given {
		t.IfError = rules.StaleIfError
	}
	return t
}

// neverStale reports whether a stale copy may not be served at all (RFC 9111, section 4.2.4).
func (d *Directives) neverStale() bool {
	return d.MustRevalidate || d.ProxyRevalidate || d.NoCache
}

// initialAge is the age of a response when it was received (RFC 9111, section 4.2.3). Dates have whole seconds, so an
// apparent age of under one is none.
func initialAge(r *Response) time.Duration {
	apparent := r.Received.Sub(dateOfResponse(r))
	if apparent < time.Second {
		apparent = 0
	}
	return max(apparent, ageField(r.Header)+r.Received.Sub(r.Requested))
}

// ageField is the Age that a response came with: the first member of its first line, if that is a number.
func ageField(h http.Header) time.Duration {
	line, _ := first(h, "Age")
	for m := range members([]string{line}) {
		d, _ := seconds(m)
		return d
	}
	return 0
}

// dateOfResponse is its Date, or when it was received where that is missing or invalid (RFC 9110, section 6.6.1).
func dateOfResponse(r *Response) time.Time {
	line, _ := first(r.Header, "Date")
	if t, ok := Date(line, r.Received); ok {
		return t
	}
	return r.Received
}

// lifetime is the freshness lifetime (RFC 9111, section 4.2.1), and whether the response says it. It leaves room for what is added to
// it: the year 9999 is further away than a duration is long.
func (t *Terms) lifetime(r *Response, rules *Rules, targeted bool) (time.Duration, bool) {
	switch {
	case t.SMaxAge.Given:
		return t.SMaxAge.For, true
	case t.MaxAge.Given:
		return t.MaxAge.For, true
	}
	if line, ok := first(r.Header, "Expires"); ok && !targeted {
		expires, valid := Date(line, r.Received)
		if !valid {
			return 0, true
		}
		return min(max(0, expires.Sub(dateOfResponse(r))), anyTime), true
	}
	if d, ok := rules.Default[r.Status]; ok {
		return d, false
	}
	return t.heuristicLifetime(r, rules), false
}

// heuristicLifetime is a share of the time between the last change and the Date (RFC 9111, section 4.2.2).
func (t *Terms) heuristicLifetime(r *Response, rules *Rules) time.Duration {
	if !isHeuristic(r.Status) && !t.Public {
		return 0
	}
	line, _ := first(r.Header, "Last-Modified")
	modified, ok := Date(line, r.Received)
	if !ok {
		return 0
	}
	d := time.Duration(rules.HeuristicShare * float64(max(0, dateOfResponse(r).Sub(modified))))
	return min(d, rules.HeuristicMost)
}

// Age is how old the response is.
func (t *Terms) Age(now time.Time) time.Duration { return max(0, now.Sub(t.Born)) }

// Left is for how long it is still fresh; negative: for how long it has been stale.
func (t *Terms) Left(now time.Time) time.Duration { return t.Lifetime - now.Sub(t.Born) }

// Verdict is what a stored response is good for, for one request at one time.
type Verdict uint8

const (
	// Reuse answers the request.
	Reuse Verdict = iota
	// ReuseAndRefresh answers it, and is to be validated behind it.
	ReuseAndRefresh
	// Validate must be validated first; if that fails, see Usable.
	Validate
	// Refuse is for a request that wants no origin to be asked, and cannot be answered (RFC 9111, section 5.2.1.7).
	Refuse
)

// Judge decides what a stored response is good for at now, for a request with these directives.
func (t *Terms) Judge(request *Directives, now time.Time) Verdict {
	v := t.judge(request, now)
	if v == Validate && request.OnlyIfCached {
		return Refuse
	}
	return v
}

func (t *Terms) judge(request *Directives, now time.Time) Verdict {
	left := t.Left(now)
	switch {
	case t.NoCache, request.NoCache:
		return Validate
	case request.MaxAge.Given && t.Age(now) > request.MaxAge.For && (!t.Immutable || left <= 0):
		return Validate // a reload of what does not change while it is fresh needs no origin (RFC 8246, section 2)
	case request.MinFresh.Given && left < request.MinFresh.For:
		return Validate
	case left > 0:
		return Reuse
	case request.MaxStale.Given && t.mayBeStale() && -left <= request.MaxStale.For:
		return Reuse
	case -left < t.WhileRevalidate:
		return ReuseAndRefresh
	}
	return Validate
}

// mayBeStale reports whether a caller may widen how it is used: never past what the response forbids (RFC 9111, section
// 4.2.4).
func (t *Terms) mayBeStale() bool { return !t.neverStale() && !t.SMaxAge.Given }

// Usable reports whether it may be served because the origin cannot be reached, or has answered that it is in trouble.
// disconnected: no answer came; a cache may serve a stale one then, unless the response forbids it (RFC 9111, section
// 4.2.4). One that never was fresh was for its own caller until the origin says otherwise: many say nothing of what they answer by
// cookie.
func (t *Terms) Usable(disconnected bool, now time.Time) bool {
	left := t.Left(now)
	switch {
	case t.neverStale():
		return left > 0 && !t.NoCache
	case -left < t.IfError, -left < t.WhileRevalidate:
		return true
	case t.StaleIfError.Given, t.SMaxAge.Given:
		return left > 0
	}
	return disconnected && t.Lifetime > 0
}
