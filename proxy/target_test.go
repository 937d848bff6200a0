package proxy

import (
	"net/http"
	"testing"
)

const leading = `version: 1
name: leading
group: text
summary: {en: A link., zh: 链接}
params: [{name: type, role: form, example: text}]
cache: {class: shared, ttl: 1h}
forms: [{name: go, redirect: .to}, {name: text, text: .to}]
sources: [{name: made, computed: {}, map: '{to: "https://example.org/a?b=1"}'}]
`

// The target of a redirect is told; what else an endpoint answers stays as it is.
func TestTargetOfARedirect(t *testing.T) {
	f := newFront(t, map[string]string{"leading": leading})
	a := f.get("/docs/leading/target")
	a.want(t, http.StatusOK)
	if a.body != "https://example.org/a?b=1\r\n" || a.Header.Get("Location") != "" {
		t.Errorf("%q, Location %q", a.body, a.Header.Get("Location"))
	}
	a.header(t, "Content-Type", "text/uri-list")
	a.header(t, "Sundry-Redirect", "302 Found")
	a.header(t, "Cache-Control", "no-store")
	a.header(t, "Cache-Status", "sundry; ")
	a.header(t, "Sundry-Source", "made")
	if h := f.do(t.Context(), http.MethodHead, "/docs/leading/target"); h.StatusCode != http.StatusOK || h.body != "" || h.ContentLength != a.ContentLength {
		t.Errorf("HEAD: %d %q", h.StatusCode, h.body)
	}
	f.get("/docs/leading/target?type=text").want(t, http.StatusOK, "https://example.org/a?b=1\n")
	f.get("/docs/leading/target?type=x").want(t, http.StatusBadRequest, `"parameter":"type"`)
	for _, path := range []string{"/docs/nope/target", "/docs/leading/target/", "/docs/leading/x/target", "/docs//target"} {
		f.get(path).want(t, http.StatusNotFound)
	}
	f.do(t.Context(), http.MethodPost, "/docs/leading/target").want(t, http.StatusMethodNotAllowed)
}
