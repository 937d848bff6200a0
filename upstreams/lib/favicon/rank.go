package favicon

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// ranked returns each href once, best first, in the page's order among equals. With
// a size of 0 small icons are best.
func ranked(links []link, size int) []string {
	links = slices.Clone(links)
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.order(size), b.order(size)) })
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

// order is rankFor, with the icons for dark colors behind the others.
func (l link) order(size int) int {
	if l.dark {
		return 1<<30 + l.rankFor(size)
	}
	return l.rankFor(size)
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
