package shortlink

import (
	"bytes"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"sundry/upstreams/webpage"

	"golang.org/x/net/html"
)

// maxDelay of a refresh, in seconds: a page that stays longer is to be read.
const maxDelay = 5

// document is what a page says that could lead on.
type document struct {
	refresh []string // targets of its meta elements
	scripts []string
	anchors []string // hrefs of all links
	// What t.cn shows: .open-url > a[href], on older pages the text of div.desc.
	shown, described []string
}

// scan reads a page. With noscript it counts what browsers show without
// scripts: at shorteners a way round them, elsewhere a page that says so.
func scan(body []byte, noscript bool) document {
	var d document
	z := html.NewTokenizer(bytes.NewReader(body))
	within, opened := "", false // the tag whose text is next; a .open-url stands before
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
			case tag == "script":
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

// tag takes in a start tag, and tells whether the next link is that of
// .open-url.
func (d *document) tag(tag string, attr map[string]string, opened bool) bool {
	switch {
	case tag == "meta" && strings.EqualFold(attr["http-equiv"], "refresh"):
		if ref, ok := refresh(attr["content"]); ok {
			d.refresh = append(d.refresh, ref)
		}
	case tag == "a" && attr["href"] != "":
		d.anchors = append(d.anchors, attr["href"])
		if opened {
			d.shown = append(d.shown, attr["href"])
		}
		return false
	}
	return opened || hasClass(attr, "open-url")
}

func hasClass(attr map[string]string, class string) bool {
	for c := range strings.FieldsSeq(attr["class"]) {
		if c == class {
			return true
		}
	}
	return false
}

// interstitial is what the warning page of this host shows: on lnkd.in the
// links that leave LinkedIn.
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

// refreshForm is lenient as browsers are: "0;URL=x", "0, url = 'x'", "0 x"
// (https://html.spec.whatwg.org/#shared-declarative-refresh-steps).
var refreshForm = regexp.MustCompile(`(?is)^\s*([0-9]*)(?:\.[0-9.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.*)$`)

// refresh is the target of a Refresh header or meta element, if it has one and
// comes soon.
func refresh(content string) (string, bool) {
	m := refreshForm.FindStringSubmatch(content)
	if m == nil {
		return "", false
	}
	if seconds, err := strconv.Atoi(m[1]); m[1] != "" && (err != nil || seconds > maxDelay) {
		return "", false
	}
	ref := strings.TrimSpace(m[2])
	if ref != "" && (ref[0] == '"' || ref[0] == '\'') {
		ref, _, _ = strings.Cut(ref[1:], ref[:1])
	}
	return ref, ref != ""
}
