package shortlink

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"sundry/upstreams/webpage"
)

const (
	maxBody = 64 << 10
	// maxShell is the largest page of an unknown host whose scripts are
	// searched: a page that only redirects is small, one to read has scripts
	// whose redirects belong to its buttons.
	maxShell = 16 << 10
)

// search looks for the target in a page that came without a Location: what
// holds for its host first, then what browsers follow.
func search(u *url.URL, body []byte) *found {
	page := scan(body, isShort(u))
	if under(u, "t.cn", "sinaurl.cn", "lnkd.in") {
		if f := firstWeb(u, "interstitial", page.interstitial(u)); f != nil {
			return f
		}
	}
	if f := firstWeb(u, "meta", page.refresh); f != nil {
		return f
	}
	if !isShort(u) && len(body) > maxShell {
		return nil
	}
	if under(u, "m.tb.cn") {
		if f := firstWeb(u, "script", variables(page.scripts)); f != nil {
			return f
		}
	}
	return firstWeb(u, "script", assignments(page.scripts))
}

// firstWeb resolves the first of these that leads to another page.
func firstWeb(u *url.URL, via string, refs []string) *found {
	for _, ref := range refs {
		if f := resolve(u, ref, via); f.target != nil && !sameDocument(f.target, u) {
			return f
		}
	}
	return nil
}

func sameDocument(a, b *url.URL) bool {
	return withoutFragment(a) == withoutFragment(b)
}

func withoutFragment(u *url.URL) string {
	c := *u
	c.Fragment, c.RawFragment = "", ""
	return c.String()
}

// readBody reads at most 64 KiB of a page, whether it broke off or not.
func readBody(resp *http.Response) []byte {
	plain, err := webpage.Inflated(resp.Body, maxBody)
	if err != nil {
		return nil
	}
	body, _ := io.ReadAll(plain)
	return body
}

// contentType is without its parameters; "" for none.
func contentType(h http.Header) string {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

func isHTML(kind string) bool {
	return kind == "" || kind == "text/html" || kind == "application/xhtml+xml"
}

// saysGone tells b23.tv's way of a 404: a 200 with a code of its own.
func saysGone(u *url.URL, kind string, body []byte) bool {
	if !under(u, "b23.tv", "bili2233.cn") || !strings.HasSuffix(kind, "json") {
		return false
	}
	var said struct {
		Code int `json:"code"`
	}
	return json.Unmarshal(body, &said) == nil && said.Code == -http.StatusNotFound
}
