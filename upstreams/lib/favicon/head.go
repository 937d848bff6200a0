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

	"sundry/upstreams/lib/webpage"

	"golang.org/x/net/html"
)

// head is what a page declares about its icons.
type head struct {
	base  string // of the first <base href>, "" without
	links []link // in the page's order
}

type link struct{ rel, href, sizes string }

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
			h.links = append(h.links, link{rel: rel, href: a["href"], sizes: a["sizes"]})
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

// ranked returns each href once, best first, in the page's order among equals. With
// a size of 0 small icons are best.
func ranked(links []link, size int) []string {
	links = slices.Clone(links)
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.rankFor(size), b.rankFor(size)) })
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

// touchIcon is the width of an apple-touch-icon that declares none.
const touchIcon = 180

// rankFor is the distance to a wanted size: the smallest square that is at least as
// wide comes first, then the widest. Pictures of any size are as good as an exact
// one; those that declare none come last.
func (l link) rankFor(size int) int {
	const unknown, narrower = 1 << 20, 1 << 16
	if size == 0 {
		return l.rank()
	}
	best := unknown + l.rank()
	for declared := range strings.FieldsSeq(strings.ToLower(l.sizes)) {
		w, h, _ := strings.Cut(declared, "x")
		width, err := strconv.Atoi(w)
		switch {
		case declared == "any":
			best = 0
		case err != nil, w != h, width < 1, width > narrower:
		case width >= size:
			best = min(best, width-size)
		default:
			best = min(best, narrower+size-width)
		}
	}
	switch {
	case best < unknown:
	case strings.HasSuffix(l.path(), ".svg"):
		return 0
	case strings.Contains(l.rel, "apple-touch-icon"):
		return link{sizes: strconv.Itoa(touchIcon) + "x" + strconv.Itoa(touchIcon)}.rankFor(size)
	}
	return best
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
		return rankOfName(l.path())
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

// path is that of the link's URL, in lower case; of data the type in the form of a
// name, x.png for image/png.
func (l link) path() string {
	if kind, ok := cutData(l.href); ok {
		kind, _, _ = strings.Cut(kind, ";")
		kind, _, _ = strings.Cut(path.Base(kind), "+") // svg+xml
		return "x." + strings.ToLower(kind)
	}
	if u, err := url.Parse(l.href); err == nil {
		return strings.ToLower(u.Path)
	}
	return strings.ToLower(l.href)
}

func rankOfName(name string) int {
	switch path.Ext(name) {
	case ".png":
		return 10
	case ".jpg", ".jpeg":
		return 20
	}
	return 30
}
