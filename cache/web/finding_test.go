package web

import (
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestFindings has a response for each cause, and what a remedy does to it: with that, it is stored.
func TestFindings(t *testing.T) {
	own, byDefault, shared, ignoring, with302 := usualRules, usualRules, usualRules, usualRules, usualRules
	own.NoCookies = true
	byDefault.Default = map[int]time.Duration{200: time.Minute}
	with302.Default = map[int]time.Duration{302: time.Minute}
	shared.Default, shared.CredentialsShared = byDefault.Default, true
	ignoring.Ignored = []string{callersField}
	override := "|Sundry-Cache-Control: max-age=60"
	for _, row := range []struct {
		rules             *Rules
		status            int
		response, request string
		cause, remedy     string
		mended            *Rules // by the remedy, and the response; "" leaves it as it is
		changed           string
	}{
		{&usualRules, 200, "Server: x", "", "says neither Cache-Control nor Last-Modified", "set --ttl 1m next to --to, or cache: {default: 1m}", &byDefault, ""},
		{&usualRules, 200, "Server: x", "Cookie: a=b", "says neither Cache-Control nor Last-Modified", "this alone is not enough, because the requests have Cookie, Authorization, X-Api-Key or X-Auth-Token", &shared, ""},
		{&usualRules, 200, "Server: x", "Authorization: a", "says neither Cache-Control nor Last-Modified", "this alone is not enough, because the requests have Authorization", &usualRules, "Sundry-Cache-Control: public, max-age=60"},
		{&usualRules, 200, "Cache-Control: public", "", "has no max-age", "cache: {default: 1m}", &byDefault, ""},
		{&usualRules, 302, "Cache-Control: public", "", "has no max-age", "set cache: {default: {302: 1m}} in its file", &with302, ""},
		{&usualRules, 302, "Server: x", "", "status 302", "set cache: {default: {302: 1m}} in its file", &with302, ""},
		{&byDefault, 200, "Server: x", "X-Api-Key: a", "the requests have Cookie, Authorization, X-Api-Key or X-Auth-Token", "set cache: {credentials: shared}", &shared, ""},
		{&byDefault, 200, "Server: x", "Cookie: a", "the requests have Cookie", "request: {remove: [Cookie]}", &Rules{Default: byDefault.Default, Replaced: []string{"Cookie"}}, ""},
		{&usualRules, 200, "Cache-Control: max-age=60", "Authorization: a", "the requests have Authorization", `Sundry-Cache-Control: "public, max-age=60"`, &usualRules, "Sundry-Cache-Control: public, max-age=60"},
		{&usualRules, 200, "Cache-Control: no-store", "Cookie: a", "says no-store", "Sundry-Cache-Control", &usualRules, "Cache-Control: no-store" + override},
		{&usualRules, 200, "Cache-Control: private", "", "says private", "Sundry-Cache-Control", &usualRules, "Cache-Control: private" + override},
		{&usualRules, 200, "Cache-Control: max-age=0", "", "stale when they arrive", "Sundry-Cache-Control", &usualRules, "Cache-Control: max-age=0" + override},
		{&usualRules, 200, "Cache-Control: no-cache", "", "or say no-cache", "Sundry-Cache-Control", &usualRules, "Cache-Control: no-cache" + override},
		{&usualRules, 299, "Cache-Control: must-understand, max-age=60", "", "status 299 is unknown", "Sundry-Cache-Control", &usualRules, "Cache-Control: must-understand" + override},
		{&own, 200, "Cache-Control: max-age=60|Set-Cookie: a=b", "", "cookies: never", "response: {remove: [Set-Cookie]}", &own, "Cache-Control: max-age=60"},
		{&byDefault, 200, "Set-Cookie: a=b", "", "sets cookies, and does not say", "response: {remove: [Set-Cookie]}", &byDefault, "Server: x"},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: Cookie|Set-Cookie: a=b", "", "Vary: Cookie", "response: {remove: [Set-Cookie]}", &usualRules, "Cache-Control: max-age=60|Vary: Cookie"},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: *", "", "Vary of the API has *", "response: {set: {Vary: Accept}}", &usualRules, "Cache-Control: max-age=60|Vary: Accept"},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: X-Forwarded-For", "", "X-Forwarded-For", "ignore_vary: [X-Forwarded-For]", &ignoring, ""},
	} {
		name := row.response + " for " + row.request
		own := *row.mended
		own.Targets = []string{"Sundry-Cache-Control"}
		q := &Request{Header: fields(split(row.request)...)}
		f, ok := FindingOf(q, received(row.status, split(row.response)...), true, row.rules)
		cause, remedy := f.Explain()
		if !ok || !strings.Contains(cause.EN(), row.cause) || !strings.Contains(remedy.EN(), row.remedy) {
			t.Errorf("%s: %v %s; %s", name, ok, cause.EN(), remedy.EN())
		}
		for _, text := range []string{cause.ZH(), remedy.ZH()} {
			if !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) || strings.Contains(text, "%!") {
				t.Errorf("%s in Chinese: %s", name, text)
			}
		}
		if row.changed == "" {
			row.changed = row.response
		}
		if got := reasonFor(q, received(row.status, split(row.changed)...), &own); got != MayBeStored {
			t.Errorf("%s: with the remedy, reason %d remains", name, got)
		}
	}
}

// TestFindingsOfOddResponses: errors, parts and what only one request keeps from being stored tell nothing of other responses.
func TestFindingsOfOddResponses(t *testing.T) {
	for _, row := range []struct {
		status            int
		response, request string
		fits              bool
		want              Reason // MayBeStored means none
	}{
		{200, "Cache-Control: max-age=60", "", true, MayBeStored},
		{200, "Cache-Control: max-age=60", "", false, TooLarge},
		{404, "Server: x", "", true, MayBeStored},
		{500, "Cache-Control: no-store", "", true, MayBeStored},
		{304, "Server: x", "", true, MayBeStored},
		{206, "Content-Range: bytes 0-1/2", "Range: bytes=0-1", true, MayBeStored},
		{200, "Server: x", "Range: bytes=0-1", true, SaysNothing},
		{200, "Cache-Control: max-age=60", "Cache-Control: no-store", true, MayBeStored},
		{200, "Server: x", "Cache-Control: no-store", true, SaysNothing},
		{200, "Cache-Control: private", "Cache-Control: no-store", true, SaysPrivate},
		{200, "Cache-Control: max-age=60|Vary: X-A", "X_A: 1", true, MayBeStored},
		{200, "Cache-Control: private|Vary: X-Forwarded-For", "X-Forwarded-For: 192.0.2.1", true, SaysPrivate},
	} {
		q := NewRequest(&http.Request{Method: http.MethodGet, Header: fields(split(row.request)...)}, &usualRules)
		f, ok := FindingOf(q, received(row.status, split(row.response)...), row.fits, &usualRules)
		if ok != (row.want != MayBeStored) || ok && f.Reason != row.want {
			t.Errorf("%d %s for %q: %v %+v, want reason %d", row.status, row.response, row.request, ok, f, row.want)
		}
	}
}

func TestTheMostFrequentFinding(t *testing.T) {
	none, private := Finding{Status: 200, Reason: SaysNothing}, Finding{Status: 200, Reason: SaysPrivate}
	if got := MostFrequent([]Finding{private, none, private}); got != private {
		t.Error(got)
	}
	if got := MostFrequent([]Finding{none, private, private, none}); got != none {
		t.Error(got)
	}
}
