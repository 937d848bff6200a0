package shortlink

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sundry/upstreams/lib/webpage"

	"golang.org/x/net/html"
)

// document has the parts of a page that may contain a target.
type document struct {
	refresh []string // targets of its meta elements
	scripts []string
	onload  string
	anchors []string // hrefs of all links
	// What t.cn shows: .open-url > a[href], on older pages the text of div.desc.
	shown, described []string
}

// scan parses a page. With noscript the content of noscript elements counts, which
// shorteners use for clients without scripts; elsewhere it is a notice.
func scan(body []byte, noscript bool) document {
	var d document
	z := html.NewTokenizer(bytes.NewReader(body))
	within, opened := "", false // the element of the next text; whether a .open-url precedes
	for {
		switch z.Next() {
		case html.ErrorToken:
			return d
		case html.TextToken:
			d.text(within, string(z.Text()))
		case html.EndTagToken:
			within = ""
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag, attr := string(name), webpage.Attributes(z, more)
			switch {
			case tag == "noscript" && noscript:
				z.NextIsNotRawText()
			case tag == "script" && isJavaScript(attr["type"]):
				within = tag
			case tag == "div" && hasClass(attr, "desc"):
				within = "desc"
			}
			opened = d.tag(tag, attr, opened)
		}
	}
}

func (d *document) text(within, text string) {
	switch within {
	case "script":
		d.scripts = append(d.scripts, text)
	case "desc":
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "http") {
			d.described = append(d.described, text)
		}
	}
}

// tag processes a start tag, and reports whether the next link is that of
// .open-url.
func (d *document) tag(tag string, attr map[string]string, opened bool) bool {
	switch {
	case tag == "meta" && strings.EqualFold(attr["http-equiv"], "refresh"):
		if ref, ok := refresh(attr["content"]); ok {
			d.refresh = append(d.refresh, ref)
		}
	case tag == "body":
		d.onload = attr["onload"]
	case tag == "a" && attr["href"] != "":
		d.anchors = append(d.anchors, attr["href"])
		if opened {
			d.shown = append(d.shown, attr["href"])
		}
		return false
	}
	return opened || hasClass(attr, "open-url")
}

// isJavaScript reports whether browsers run a script of a type.
func isJavaScript(kind string) bool {
	kind = strings.ToLower(kind)
	return kind == "" || kind == "module" || strings.Contains(kind, "javascript") || strings.Contains(kind, "ecmascript")
}

func hasClass(attr map[string]string, class string) bool {
	return slices.Contains(strings.Fields(attr["class"]), class)
}

// interstitial are the targets that the warning page of a host shows: on lnkd.in
// the links to other sites than LinkedIn.
func (d *document) interstitial(u *url.URL) []string {
	if !under(u, "lnkd.in") {
		return append(d.shown, d.described...)
	}
	var out []string
	for _, href := range d.anchors {
		if a, err := url.Parse(escaped(href)); err == nil && isWeb(a.Scheme) && !under(a, "lnkd.in", "linkedin.com", "licdn.com") {
			out = append(out, href)
		}
	}
	return out
}

// refresh is the target of a Refresh header or meta element, if it has one and its
// delay is short.
func refresh(content string) (string, bool) { return webpage.Refresh(content) }

const (
	maxBody = 64 << 10
	// maxRedirectPage is the largest page of an unknown host whose scripts are
	// searched: a page that only redirects is small, while the redirects in the
	// scripts of a larger one belong to its buttons.
	maxRedirectPage = 16 << 10
)

// search finds the target in a page that was sent without a Location: first by the
// rules of its host, then as browsers do.
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
	if !isShort(u) && len(body) > maxRedirectPage {
		return nil
	}
	scripts := readScripts(append(page.scripts, page.onload))
	if f := firstWeb(u, "script", variables(u, scripts)); f != nil {
		return f
	}
	targets, unsure := scripts.redirects()
	f := firstWeb(u, "script", targets)
	if f == nil && unsure {
		return &found{via: "script", invalid: true}
	}
	return f
}

// firstWeb returns the first of the references that is another web page.
func firstWeb(u *url.URL, via string, refs []string) *found {
	for _, ref := range refs {
		if f := parseTarget(u, ref, via); f.target != nil && !sameDocument(f.target, u) {
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

// readBody reads at most 64 KiB of a page. A truncated one counts too.
func readBody(resp *http.Response) []byte {
	plain, err := webpage.Gunzip(resp.Body, maxBody)
	if err != nil {
		return nil
	}
	body, _ := io.ReadAll(plain)
	return body
}

// contentType is the media type without its parameters; "" for none.
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

// reportsGone recognises b23.tv's form of a 404: a 200 with a code in the body.
func reportsGone(u *url.URL, kind string, body []byte) bool {
	if !under(u, "b23.tv", "bili2233.cn") || !strings.HasSuffix(kind, "json") {
		return false
	}
	var reply struct {
		Code int `json:"code"`
	}
	return json.Unmarshal(body, &reply) == nil && reply.Code == -http.StatusNotFound
}

// variables are the texts of the variables that the scripts of some hosts redirect to, of
// Taobao's pages and of JD's.
func variables(u *url.URL, scripts *script) []string {
	switch {
	case under(u, "tb.cn"):
		return scripts.first("url")
	case under(u, "u.jd.com"):
		return scripts.first("hrl")
	}
	return nil
}

var escape = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)`)

// unescape replaces the escapes of a script's string: \/ \u0026 \x3d and escaped
// quotes. Half of a surrogate pair becomes U+FFFD.
func unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		if len(e) > 2 {
			n, _ := strconv.ParseUint(e[2:], 16, 32) // the pattern holds digits only
			return string(rune(n))
		}
		return e[1:]
	})
}
