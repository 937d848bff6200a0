package web

import (
	"net/http"
	"testing"
	"time"
)

// TestNotStored has a response for each reason.
func TestNotStored(t *testing.T) {
	own := usualRules
	own.NoCookies, own.Default = true, map[int]time.Duration{200: time.Minute, 203: 0}
	for _, row := range []struct {
		rules             *Rules
		status            int
		response, request string
		want              Reason
	}{
		{&usualRules, 200, "Cache-Control: max-age=60", "", MayBeStored},
		{&usualRules, 200, `Etag: "a"`, "", MayBeStored},
		{&usualRules, 200, "Last-Modified: {-1000}", "", MayBeStored},
		{&usualRules, 200, "", "", SaysNothing},
		{&usualRules, 200, "", "Cookie: a=b", UndeclaredWithCredentials},
		{&usualRules, 200, "Cache-Control: public", "", WithoutLifetime},
		{&usualRules, 200, "Cache-Control: must-revalidate", "", WithoutLifetime},
		{&usualRules, 302, "", "", StatusWithoutLifetime},
		{&usualRules, 201, `Etag: "a"`, "", StatusWithoutLifetime},
		{&usualRules, 200, "Cache-Control: max-age=0", "", NeverFresh},
		{&usualRules, 200, "Cache-Control: no-cache", "", NeverFresh},
		{&usualRules, 200, "Expires: 0", "", NeverFresh},
		{&usualRules, 200, "Cache-Control: max-age=60|Age: 61", "", NeverFresh},
		{&own, 203, "", "", NeverFresh},
		{&usualRules, 304, "Cache-Control: max-age=60", "", Incomplete},
		{&usualRules, 429, "Cache-Control: max-age=60", "", RefusedAlone},
		{&usualRules, 299, "Cache-Control: must-understand, max-age=60", "", NotUnderstood},
		{&usualRules, 200, "Cache-Control: no-store", "Authorization: x", SaysNoStore},
		{&usualRules, 200, "Cache-Control: private, max-age=60", "", SaysPrivate},
		{&usualRules, 200, "Cache-Control: max-age=60", "Cache-Control: no-store", RequestNoStore},
		{&usualRules, 206, "Cache-Control: max-age=60", "", PartOfNothing},
		{&usualRules, 200, "Cache-Control: max-age=60", "Authorization: x", Authorized},
		{&own, 200, "Cache-Control: max-age=60|Set-Cookie: a=b", "", CookiesNever},
		{&usualRules, 200, "Set-Cookie: a=b", "", CookieWithoutLifetime},
		{&usualRules, 200, "Cache-Control: max-age=60|Set-Cookie: a=b|Vary: Cookie", "", CookieByCookie},
		{&own, 200, "", "Cookie: a=b", DefaultWithCredentials},
		{&own, 200, "", "X-Auth-Token: a", DefaultWithCredentials},
		{&usualRules, 200, "Last-Modified: {-1000}", "X-Api-Key: a", UndeclaredWithCredentials},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: *", "", VaryAny},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: a b", "", VaryMalformed},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u", "", VaryMany},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: X-Forwarded-For", "", VaryByClient},
		{&usualRules, 200, "Cache-Control: max-age=60|Vary: X-A", "X_A: 1", Disguised},
		{&usualRules, 200, "Cache-Control: max-age=60|Cache-Groups: " + groupNames(maxGroups), "", MayBeStored},
		{&usualRules, 200, "Cache-Control: max-age=60|Cache-Groups: " + groupNames(maxGroups+1), "", InManyGroups},
	} {
		r := received(row.status, split(row.response)...)
		terms := TermsOf(r, row.rules)
		q := NewRequest(&http.Request{Method: http.MethodGet, Header: fields(split(row.request)...)}, row.rules)
		if got := NotStored(q, r, &terms, row.rules); got != row.want {
			t.Errorf("%d %s for %q: reason %d, want %d", row.status, row.response, row.request, got, row.want)
		}
	}
}
