package shortlink

import (
	"net/url"
	"strings"
	"testing"
)

func sound(t *testing.T, f *found) {
	t.Helper()
	if f == nil || f.target == nil {
		return
	}
	sent := f.target.String()
	if !isWeb(f.target.Scheme) || f.target.Host == "" || strings.ContainsFunc(f.target.RequestURI(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		t.Errorf("target %q", sent)
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"/x", "//a/b", "https://例子/路 ?x y", "intent://x#Intent;S.browser_fallback_url=https%3A%2F%2Fa;end", "weixin://x", "javascript:x", "http://[::", "?%zz#%"} {
		f.Add(s)
	}
	base := &url.URL{Scheme: "https", Host: "a.example", Path: "/x"}
	f.Fuzz(func(t *testing.T, ref string) {
		got := parseTarget(base, ref, "http")
		sound(t, got)
		if got.target != nil && got.app != "" || got.via != "http" {
			t.Errorf("%+v", got)
		}
		if got.target != nil {
			sound(t, unwrap(got.target))
		}
	})
}
