package through

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
)

// TestLinksOfAnAPILeadHere, whatever field they are in. Bodies are not looked at.
func TestLinksOfAnAPILeadHere(t *testing.T) {
	const root, based = "http://10.0.0.1:3000", "http://10.0.0.1:3000/v1"
	for _, row := range []struct{ to, prefix, field, line, want string }{
		{root, "/api/a", "Location", "/login", "/api/a/login"},
		{root, "/api/a", "Location", "//10.0.0.1:3000/login?x#y", "/api/a/login?x#y"},
		{root, "/api/a", "Location", "//evil.test/login", "//evil.test/login"},
		{root, "/api/a", "Location", "/api/a/login", "/api/a/login"},
		{root, "/api/a", "Location", "/api/ab", "/api/a/api/ab"},
		{root, "/api/a", "Location", "next", "next"},
		{root, "/api/a", "Location", "?page=2", "?page=2"},
		{root, "/api/a", "Location", "#top", "#top"},
		{root, "/api/a", "Location", "mailto:a@b", "mailto:a@b"},
		{root, "/api/a", "Location", "%zz", "%zz"},
		{root, "", "Location", "/login?", "/login?"},
		{based, "", "Location", "/v1/login?", "/login?"},
		{based, "", "Location", "/v2/login", "/v2/login"},
		{based, "/api/a", "Location", "/v1/", "/api/a/"},
		{root, "/api/a", "Content-Location", "http://10.0.0.1:3000/b%2Fc", "/api/a/b%2Fc"},
		{root, "/api/a", "Content-Location", "/b", "/api/a/b"},
		{root, "/api/a", "Link", `</p?page=2>; rel="next", <http://10.0.0.1:3000/p>; title="a <b>, \"</c>"; rel=first, <https://else.test/>; rel=x`,
			`</api/a/p?page=2>; rel="next", </api/a/p>; title="a <b>, \"</c>"; rel=first, <https://else.test/>; rel=x`},
		{root, "/api/a", "Link", `</unended; rel=next`, `</unended; rel=next`},
		{root, "/api/a", "Link", `<>; rel=self`, `<>; rel=self`},
		{root, "/api/a", "Refresh", "5; url=/next", "5; url=/api/a/next"},
		{root, "/api/a", "Refresh", `0;URL='http://10.0.0.1:3000/x'`, `0;URL='/api/a/x'`},
		{root, "/api/a", "Refresh", "5", "5"},
		{root, "/api/a", "Refresh", "5; url=https://else.test/?url=/x", "5; url=https://else.test/?url=/x"},
		{root, "/api/a", "Set-Cookie", "s=1; Path=/; HttpOnly", "s=1; Path=/api/a/; HttpOnly"},
		{root, "/api/a", "Set-Cookie", "s=1; path=/x;Secure", "s=1; Path=/api/a/x;Secure"},
		{root, "/api/a", "Set-Cookie", "s=1; Path=/api/a", "s=1; Path=/api/a"},
		{root, "/api/a", "Set-Cookie", "s=1", "s=1"},
		{root, "", "Set-Cookie", "s=a=/b; Path=/", "s=a=/b; Path=/"},
		{based, "", "Set-Cookie", "s=1; Path=/v1/x", "s=1; Path=/x"},
		{based, "", "Set-Cookie", "s=1; Path=/v1", "s=1; Path=/"},
		{based, "", "Set-Cookie", "s=1; Path=/", "s=1; Path=/"},
		{based, "", "Set-Cookie", "s=1; Path=/v2", "s=1; Path=/v2"},
		{"http://app.internal.test", "", "Set-Cookie", "s=1; Domain=.internal.test; Secure", "s=1; Secure"},
		{"http://app.internal.test", "", "Set-Cookie", "s=1; Domain=app.internal.test", "s=1"},
		{"http://app.internal.test", "", "Set-Cookie", "s=1; Domain=else.test", "s=1; Domain=else.test"},
		{"http://app.example.org", "", "Set-Cookie", "s=1; Domain=example.org", "s=1; Domain=example.org"},
		{root, "/api/a", "X-Own", "/x", "/x"},
	} {
		to, err := url.Parse(row.to)
		if err != nil {
			t.Fatal(err)
		}
		h, fields := &Handler{Settings: Settings{Prefix: row.prefix, Hosts: []string{"www.example.org"}}}, http.Header{row.field: {row.line}}
		h.relocate(fields, &Target{URL: to, Sent: to.Host})
		if got := fields[row.field]; !slices.Equal(got, []string{row.want}) {
			t.Errorf("%s below %q: %s: %s becomes %q, want %s", row.to, row.prefix, row.field, row.line, got, row.want)
		}
	}
}

// TestDestinationsOfCopies lead to the origin, as callers' addresses lead here.
func TestDestinationsOfCopies(t *testing.T) {
	for _, row := range []struct{ to, sent, prefix, text, want string }{
		{"http://10.0.0.1:3000", "10.0.0.1:3000", "", "http://www.example.org/b%20c", "http://10.0.0.1:3000/b%20c"},
		{"https://10.0.0.1/dav", "dav.internal", "/api/a", "https://www.example.org/api/a/b", "https://dav.internal/dav/b"},
		{"http://10.0.0.1/dav/", "10.0.0.1", "/api/a", "/api/a/b", "http://10.0.0.1/dav/b"},
		{"http://10.0.0.1", "10.0.0.1", "/api/a", "http://www.example.org/api/other/b", "http://www.example.org/api/other/b"},
		{"http://10.0.0.1", "10.0.0.1", "", "http://else.test/b", "http://else.test/b"},
		{"http://10.0.0.1", "10.0.0.1", "", "%zz", "%zz"},
	} {
		to, err := url.Parse(row.to)
		if err != nil {
			t.Fatal(err)
		}
		h := &Handler{Settings: Settings{Prefix: row.prefix}}
		if got := h.destinationAt(row.text, "www.example.org", &Target{URL: to, Sent: row.sent}); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

// TestLinksToTheHostOfTheCaller, which the origin knows with host: caller, but not where below it the API is.
func TestLinksToTheHostOfTheCaller(t *testing.T) {
	for _, row := range []struct{ prefix, field, line, want string }{
		{"/api/a", "Location", "http://www.example.org/login", "/api/a/login"},
		{"/api/a", "Location", "//WWW.example.org/login", "/api/a/login"},
		{"/api/a", "Location", "http://10.0.0.1:3000/login", "/api/a/login"},
		{"/api/a", "Location", "https://www.example.org/login?x", "https://www.example.org/api/a/login?x"},
		{"/api/a", "Location", "https://www.example.org/api/a/login", "https://www.example.org/api/a/login"},
		{"/api/a", "Location", "ftp://www.example.org/x", "ftp://www.example.org/x"},
		{"/api/a", "Location", "http://www.example.org:81/x", "http://www.example.org:81/x"},
		{"", "Location", "http://www.example.org/login", "/login"},
		{"", "Location", "https://www.example.org/login", "https://www.example.org/login"},
		{"/api/a", "Link", `<https://www.example.org/p>; rel="next"`, `<https://www.example.org/api/a/p>; rel="next"`},
		{"", "Set-Cookie", "s=1; Domain=example.org", "s=1; Domain=example.org"},
		{"/api/a", "Set-Cookie", "s=1; Path=/; Domain=www.example.org", "s=1; Path=/api/a/; Domain=www.example.org"},
		{"", "Set-Cookie", "s=1; Domain=10.0.0.1", "s=1"},
	} {
		h, fields := &Handler{Settings: Settings{Prefix: row.prefix}}, http.Header{row.field: {row.line}}
		h.relocate(fields, &Target{URL: &url.URL{Scheme: "http", Host: "10.0.0.1:3000"}, Sent: "www.example.org", caller: true})
		if got := fields[row.field]; !slices.Equal(got, []string{row.want}) {
			t.Errorf("below %q: %s: %s becomes %q, want %s", row.prefix, row.field, row.line, got, row.want)
		}
	}
}
