package favicon

import (
	"cmp"
	"errors"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"sundry/upstreams/webpage"

	"golang.org/x/net/html"
)

// head is what a page declares about its icons.
type head struct {
	base  string // of the first <base href>, "" without
	links []link // in the page's order
}

type link struct{ href, sizes string }

// scanHead collects icon links up to the end of the head. If a page is cut
// off, the links before that count; it is an error only before the first link.
func scanHead(r io.Reader) (head, error) {
	var h head
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxPage)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); len(h.links) == 0 && !errors.Is(err, io.EOF) && !errors.Is(err, html.ErrBufferExceeded) {
				return head{}, err
			}
			return h, nil
		case html.StartTagToken, html.SelfClosingTagToken:
			if ended := h.tag(z); ended {
				return h, nil
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "head" {
				return h, nil
			}
		}
	}
}

// tag processes a start tag, and reports whether it ends the head.
func (h *head) tag(z *html.Tokenizer) bool {
	name, more := z.TagName()
	switch string(name) {
	case "body":
		return true
	case "base":
		if href := webpage.Attributes(z, more)["href"]; h.base == "" {
			h.base = href
		}
	case "link":
		a := webpage.Attributes(z, more)
		if rel := strings.ToLower(a["rel"]); a["href"] != "" && strings.Contains(rel, "icon") && !strings.Contains(rel, "mask-icon") {
			h.links = append(h.links, link{href: a["href"], sizes: a["sizes"]})
		}
	}
	return false
}

// baseURL is the URL that links are resolved against: the page's base, else its
// own.
func (h head) baseURL(page *url.URL) *url.URL {
	base, err := page.Parse(h.base)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" {
		return page
	}
	return base
}

// ranked returns each href once, best first, in the page's order among equals.
func ranked(links []link) []string {
	links = slices.Clone(links)
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.rank(), b.rank()) })
	var hrefs []string
	for _, l := range links {
		if !slices.Contains(hrefs, l.href) {
			hrefs = append(hrefs, l.href)
		}
		if len(hrefs) == maxTries {
			break
		}
	}
	return hrefs
}

// rank follows Vaultwarden's order (src/api/icons.rs): small squares first,
// then by the extension of the name. Of several sizes the best counts.
func (l link) rank() int {
	best := 0
	for size := range strings.FieldsSeq(strings.ToLower(l.sizes)) {
		if r := rankOfSize(size); r != 0 && (best == 0 || r < best) {
			best = r
		}
	}
	if best == 0 {
		return rankOfName(l.href)
	}
	return best
}

// rankOfSize is 0 for what is not a size, such as "any".
func rankOfSize(size string) int {
	w, h, _ := strings.Cut(size, "x")
	width, err := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	switch {
	case err != nil, err2 != nil:
		return 0
	case width != height:
		return 200
	case width == 32:
		return 1
	case width == 64:
		return 2
	case width >= 24 && width <= 192:
		return 3
	case width == 16:
		return 4
	}
	return 5
}

func rankOfName(href string) int {
	name := href
	if kind, ok := cutData(href); ok {
		kind, _, _ = strings.Cut(kind, ";")
		name = "x." + path.Base(kind) // image/png ranks like .png
	} else if u, err := url.Parse(href); err == nil {
		name = u.Path
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".png":
		return 10
	case ".jpg", ".jpeg":
		return 20
	}
	return 30
}
