package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Explain says in words, for operators, what becomes of a response to a GET: whether it is stored, for how long it is fresh and
// why, what is done once it is stale, and which other requests it is not for.
func Explain(q *Request, r *Response, rules *Rules) []string {
	t := TermsOf(r, rules)
	if !Storable(q, r, &t, rules) {
		return []string{"not stored because " + whyNotStored(q, r, &t, rules)}
	}
	lines := []string{explainLifetime(r, &t, rules)}
	if t.NoCache {
		lines[0] = "stored, but revalidated before each use because of no-cache"
	}
	lines = append(lines, explainValidator(r.Header))
	lines = append(lines, t.explainStale()...)
	if names := Selecting(r.Header, rules.Ignored); len(names) > 0 {
		lines = append(lines, "for requests with the same "+strings.Join(names, ", "))
	}
	return lines
}

// whyNotStored names the first of the reasons for which a response is not storable, in their order there.
func whyNotStored(q *Request, r *Response, t *Terms, rules *Rules) string {
	status := strconv.Itoa(r.Status)
	switch {
	case r.Status < 200 || r.Status == http.StatusNotModified:
		return "status " + status + " is no whole answer"
	case t.MustUnderstand && !understood(r.Status):
		return "of must-understand with the unknown status " + status
	case t.NoStore && !t.MustUnderstand:
		return "of no-store"
	case t.Private:
		return "of private"
	case q.NoStore:
		return "the request has no-store"
	case r.Status == http.StatusPartialContent && r.Header.Get("Content-Range") == "":
		return "a 206 without Content-Range is no part of anything"
	case q.Header["Authorization"] != nil && !t.Public && !t.MustRevalidate && !t.SMaxAge.Given:
		return "the request has Authorization, and the answer has none of public, must-revalidate, s-maxage"
	case len(r.Header["Set-Cookie"]) > 0 && rules.NoCookies:
		return "it sets a cookie (cache: cookies: never)"
	case len(r.Header["Set-Cookie"]) > 0 && !t.Explicit:
		return "it sets a cookie, and does not say for how long it is fresh"
	case variesByAnything(r.Header):
		return "of Vary: *"
	}
	if _, byDefault := rules.Default[r.Status]; !t.Explicit && !t.Public && !byDefault && !isHeuristic(r.Status) {
		return "status " + status + " is only stored if the answer says for how long it is fresh"
	}
	why := because(r, t, rules)
	if t.Lifetime > 0 {
		why = fmt.Sprintf("it is %s old already, and fresh for %s because %s", span(t.Age(r.Received)), span(t.Lifetime), why)
	}
	return why + ", and it has no ETag or Last-Modified to be revalidated by"
}

// explainLifetime is for how long a response is fresh, and why.
func explainLifetime(r *Response, t *Terms, rules *Rules) string {
	why := because(r, t, rules)
	switch old := t.Age(r.Received); {
	case t.Lifetime <= 0:
		return "stale at once because " + why
	case old >= t.Lifetime:
		return fmt.Sprintf("stale at once: it is %s old already, and fresh for %s because %s", span(old), span(t.Lifetime), why)
	case old >= time.Second:
		return fmt.Sprintf("fresh for %s because %s, of which %s are over", span(t.Lifetime), why, span(old))
	}
	return "fresh for " + span(t.Lifetime) + " because " + why
}

// because is why a response is fresh for its lifetime.
func because(r *Response, t *Terms, rules *Rules) string {
	why := "nothing says for how long"
	switch _, byDefault := rules.Default[r.Status]; {
	case t.Explicit:
		why = saysLifetime(r, t, rules)
	case byDefault:
		why = "cache: default has " + span(rules.Default[r.Status]) + " for status " + strconv.Itoa(r.Status)
	case t.Lifetime > 0 && t.Lifetime == rules.HeuristicMost:
		why = "cache: heuristic_most bounds the time that follows from Last-Modified"
	case t.Lifetime > 0:
		why = fmt.Sprintf("that is %g of the time since Last-Modified (cache: heuristic)", rules.HeuristicShare)
	}
	if rules.Most > 0 && t.Lifetime == rules.Most {
		why += ", bounded by cache: most"
	}
	return why
}

// saysLifetime is what in a response says for how long it is fresh, with the field that stands in the place of Cache-Control.
func saysLifetime(r *Response, t *Terms, rules *Rules) string {
	said := ""
	switch {
	case t.SMaxAge.Given:
		said = argument("s-maxage", t.SMaxAge)
	case t.MaxAge.Given:
		said = argument("max-age", t.MaxAge)
	default:
		line, _ := first(r.Header, "Expires")
		return "Expires: " + line
	}
	for _, name := range rules.Targets {
		if lines, ok := r.Header[http.CanonicalHeaderKey(name)]; ok {
			if _, ok := structured(lines); ok {
				return said + " in " + name
			}
		}
	}
	return said
}

// argument is a directive as it counts: one that is no number counts as 0.
func argument(name string, a Argument) string {
	if !a.Valid {
		return name + " without a number"
	}
	return name + "=" + strconv.FormatInt(int64(a.For/time.Second), 10)
}

// explainValidator is what a stored response is asked for again with.
func explainValidator(h http.Header) string {
	tag, date := h.Get("Etag") != "", h.Get("Last-Modified") != ""
	switch {
	case tag && date:
		return "then revalidated by ETag and Last-Modified"
	case tag:
		return "then revalidated by ETag"
	case date:
		return "then revalidated by Last-Modified"
	}
	return "then fetched anew: it has no ETag or Last-Modified"
}

// explainStale is when a stale response is served.
func (t *Terms) explainStale() (lines []string) {
	if t.MustRevalidate || t.ProxyRevalidate {
		name := "must-revalidate"
		if !t.MustRevalidate {
			name = "proxy-revalidate"
		}
		return []string{"never served stale because of " + name}
	}
	if t.WhileRevalidate > 0 {
		lines = append(lines, "served stale for "+span(t.WhileRevalidate)+" while it is fetched again (stale-while-revalidate)")
	}
	if t.IfError > 0 {
		lines = append(lines, "served stale for "+span(t.IfError)+" while the API fails (stale-if-error)")
	}
	return lines
}

// span is a duration in the largest unit of which it has at least two, and whole ones.
func span(d time.Duration) string {
	d = d.Round(time.Second)
	for _, unit := range [...]struct {
		is   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= 2*unit.is && d%unit.is == 0 {
			return fmt.Sprintf("%d %s", d/unit.is, unit.name)
		}
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
