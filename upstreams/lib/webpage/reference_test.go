package webpage

import (
	"net/url"
	"testing"
)

// The references and their URLs are as in the WHATWG URL standard.
func TestReference(t *testing.T) {
	base, err := url.Parse("https://a.example/x/y?q#f")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"i.png":                   "https://a.example/x/i.png",
		" \x00\x1f/i.png\r\n ":    "https://a.example/i.png",
		"/i\n.p\tng":              "https://a.example/i.png",
		`\i\j.png?a\b`:            `https://a.example/i/j.png?a\b`,
		`\\cdn.example\i.png`:     "https://cdn.example/i.png",
		"//cdn.example/i.png":     "https://cdn.example/i.png",
		"///cdn.example/i.png":    "https://cdn.example/i.png",
		"http:/cdn.example/i.png": "http://cdn.example/i.png", "https:/i.png": "https://a.example/i.png",
		`HTTP:\\cdn.example\i.png`: "http://cdn.example/i.png",
		"http:cdn.example/i.png":   "http://cdn.example/i.png",
		"https:i.png":              "https://a.example/x/i.png",
		"100%.png":                 "https://a.example/x/100%25.png",
		"a%20b c.png":              "https://a.example/x/a%20b%20c.png",
		"图.png":                    "https://a.example/x/%E5%9B%BE.png",
		"i.png?v=1 2":              "https://a.example/x/i.png?v=1%202",
		"http://[::":               "",
		"data:image/png;base64,a":  "data:image/png;base64,a",
		"javascript:x":             "javascript:x",
		"a:b.png":                  "a:b.png",
		"img/a:b.png":              "https://a.example/x/img/a:b.png",
		"?v=1":                     "https://a.example/x/y?v=1",
	} {
		u, err := Reference(base, ref)
		got := ""
		if err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", ref, got, want)
		}
	}
}
