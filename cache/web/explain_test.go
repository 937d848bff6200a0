package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestExplain has each reason, in the words that operators read.
func TestExplain(t *testing.T) {
	own := usualRules
	own.Default, own.Most = map[int]time.Duration{200: time.Minute, 201: 0}, time.Hour
	own.StaleWhileRevalidate, own.StaleIfError, own.NoCookies = 30*time.Second, 48*time.Hour, true
	own.Ignored = []string{"User-Agent"}
	for _, row := range []struct {
		rules             *Rules
		status            int
		response, request string
		want              string
	}{
		{&usualRules, 200, `Cache-Control: max-age=60|Etag: "a"`, "", "fresh for a minute because max-age=60; then revalidated by ETag"},
		{&usualRules, 200, "Cache-Control: max-age=7200, s-maxage=120", "", "fresh for 2 min because s-maxage=120; then fetched anew: it has no ETag or Last-Modified"},
		{&usualRules, 200, "CDN-Cache-Control: max-age=3|Cache-Control: no-store", "", "fresh for 3 s because max-age=3 in CDN-Cache-Control; then fetched anew: it has no ETag or Last-Modified"},
		{&usualRules, 200, "CDN-Cache-Control: max-age=x y|Cache-Control: max-age=172800", "", "fresh for 2 d because max-age=172800; then fetched anew: it has no ETag or Last-Modified"},
		{&usualRules, 200, "Expires: {7200}|Last-Modified: {-10}", "", "fresh for 2 h because Expires: Tue, 24 Nov 2026 14:00:00 GMT; then revalidated by Last-Modified"},
		{&usualRules, 200, `Expires: 0|Etag: "a"`, "", "stale at once because Expires: 0; then revalidated by ETag"},
		{&usualRules, 200, `Cache-Control: max-age=x|Etag: "a"`, "", "stale at once because max-age without a number; then revalidated by ETag"},
		{&usualRules, 200, `Etag: "a"|Last-Modified: {-1000}`, "", "fresh for 100 s because that is 10 % of the time since Last-Modified (cache: heuristic); then revalidated by ETag and Last-Modified"},
		{&usualRules, 200, "Last-Modified: {-99999999}", "", "fresh for a day because cache: heuristic_most bounds the time that follows from Last-Modified; then revalidated by Last-Modified"},
		{&usualRules, 200, `Etag: "a"`, "", "stale at once because nothing says for how long; then revalidated by ETag"},
		{&usualRules, 200, "Cache-Control: max-age=60|Age: 20", "", "fresh for a minute because max-age=60, of which 20 s are over; then fetched anew: it has no ETag or Last-Modified"},
		{&usualRules, 200, `Cache-Control: max-age=60|Age: 61|Etag: "a"`, "", "stale at once: it is 61 s old already, and fresh for a minute because max-age=60; then revalidated by ETag"},
		{&usualRules, 200, `Cache-Control: no-cache, max-age=60|Etag: "a"`, "", "stored, but revalidated before each use because of no-cache; then revalidated by ETag"},
		{&usualRules, 200, `Cache-Control: max-age=5, must-revalidate|Etag: "a"`, "", "fresh for 5 s because max-age=5; then revalidated by ETag; never served stale because of must-revalidate"},
		{&usualRules, 200, `Cache-Control: max-age=5, proxy-revalidate|Etag: "a"`, "", "fresh for 5 s because max-age=5; then revalidated by ETag; never served stale because of proxy-revalidate"},
		{
			&own, 200, `Etag: "a"|Vary: user-agent, Accept-Language, accept`, "",
			"fresh for a minute because cache: default has a minute for status 200; then revalidated by ETag; served stale for 30 s while it is fetched again (stale-while-revalidate); " +
				"served stale for 2 d while the API fails (stale-if-error); for requests with the same Accept, Accept-Language",
		},
		{&own, 200, `Cache-Control: max-age=86400, stale-while-revalidate=0, stale-if-error=0`, "", "fresh for an hour because max-age=86400, bounded by cache: most; then fetched anew: it has no ETag or Last-Modified"},
		{&own, 200, `Etag: "a"`, "X-Api-Key: 1", "not stored because the request has a cookie or a key, the answer does not say how long it is fresh, and cache: default is only for requests without (cache: credentials)"},
		{&own, 200, "Cache-Control: public", "Cookie: a", "fresh for a minute because cache: default has a minute for status 200; then fetched anew: it has no ETag or Last-Modified; served stale for 30 s while it is fetched again (stale-while-revalidate); served stale for 2 d while the API fails (stale-if-error)"},
		{&own, 201, "", "", "not stored because cache: default has 0 s for status 201, and it has no ETag or Last-Modified to be revalidated by"},

		{&usualRules, 200, "Cache-Control: no-store", "", "not stored because of no-store"},
		{&usualRules, 200, "Cache-Control: private, max-age=60", "", "not stored because of private"},
		{&usualRules, 200, "", "", "not stored because nothing says for how long, and it has no ETag or Last-Modified to be revalidated by"},
		{&usualRules, 200, "Cache-Control: max-age=0", "", "not stored because max-age=0, and it has no ETag or Last-Modified to be revalidated by"},
		{&usualRules, 200, "Cache-Control: max-age=60|Age: 60", "", "not stored because it is a minute old already, and fresh for a minute because max-age=60, and it has no ETag or Last-Modified to be revalidated by"},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: *", "", "not stored because of Vary: *"},
		{&usualRules, 200, `Etag: "a"|Set-Cookie: a=b`, "", "not stored because it sets a cookie, and is not fresh by what it says"},
		{&own, 200, "Cache-Control: max-age=60|Set-Cookie: a=b", "", "not stored because it sets a cookie (cache: cookies: never)"},
		{&usualRules, 200, "Cache-Control: max-age=60", "Authorization: x", "not stored because the request has Authorization, and the answer has none of public, must-revalidate, s-maxage"},
		{&usualRules, 200, "Cache-Control: max-age=60", "Cache-Control: no-store", "not stored because the request has no-store"},
		{&usualRules, 302, `Etag: "a"`, "", "not stored because status 302 is only stored if the answer says for how long it is fresh"},
		{&usualRules, 299, "Cache-Control: must-understand, max-age=60", "", "not stored because of must-understand with the unknown status 299"},
		{&usualRules, 206, "Cache-Control: max-age=60", "", "not stored because a 206 without Content-Range is no part of anything"},
		{&usualRules, 304, "Cache-Control: max-age=60", "", "not stored because status 304 is no whole answer"},
	} {
		r := received(row.status, split(row.response)...)
		q := NewRequest(&http.Request{Method: http.MethodGet, Header: fields(split(row.request)...)}, row.rules)
		var got []string
		for _, line := range Explain(q, r, row.rules) {
			got = append(got, line.EN())
			if !strings.ContainsFunc(line.ZH(), func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.Contains(line.ZH(), "%!") {
				t.Errorf("%s in Chinese: %s", line.EN(), line.ZH())
			}
		}
		if got := strings.Join(got, "; "); got != row.want {
			t.Errorf("%d %s for %q:\n%s, want\n%s", row.status, row.response, row.request, got, row.want)
		}
	}
}

// TestExplainRules: what is decided before there is a response.
func TestExplainRules(t *testing.T) {
	own := usualRules
	own.Default, own.Most, own.StaleIfError, own.NoCookies = map[int]time.Duration{404: time.Minute, 410: time.Minute}, time.Hour, 48*time.Hour, true
	var got []string
	for _, line := range own.Explain() {
		got = append(got, line.EN())
	}
	want := "fresh for as long as the response says, by the first that it has of CDN-Cache-Control, Cache-Control, Expires; a response that says nothing: fresh for a minute if its status is 404, 410 (cache: default); " +
		"any other that says nothing: fresh for 10 % of the time since its Last-Modified, at most a day (cache: heuristic); " +
		"cache: default is only for requests without Authorization, Cookie, X-Api-Key, X-Auth-Token (cache: credentials); never for longer than an hour (cache: most); " +
		"where it says nothing: served stale for 2 d while the API fails (stale-if-error); not stored where it sets a cookie (cache: cookies: never)"
	if got := strings.Join(got, "; "); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	own.Replaced = []string{"Cookie"}
	if got := own.Explain()[3].EN(); got != "cache: default is only for requests without Authorization, X-Api-Key, X-Auth-Token (cache: credentials)" {
		t.Error(got)
	}
	own.CredentialsShared = true
	if got := own.Explain()[3].EN(); got != "what says nothing is shared, whatever a request has in Cookie, X-Api-Key and X-Auth-Token (cache: credentials: shared)" {
		t.Error(got)
	}
}
