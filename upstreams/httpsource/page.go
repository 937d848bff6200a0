package httpsource

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sundry/upstreams"
)

// Bounds of an HTML page, far above what any source sends.
const (
	maxElements  = 5_000     // that the selectors of one page match
	maxSelected  = 512 << 10 // bytes of all values
	selectTime   = 2 * time.Second
	nodesPerLook = 16 // at the clock: to match one may take long where elements are nested deeply
)

// document decodes a page or an XML document by selectors.
type document struct {
	parse  func(text []byte) (*html.Node, error)
	fields []namedSelection
}

// reading is the selecting from one page.
type reading struct {
	ctx      context.Context //nolint:containedctx // of this one reading
	base     *url.URL
	visited  int
	elements int
	bytes    int
}

// decode makes a JSON value of a text that came from an address.
func (d *document) decode(ctx context.Context, text []byte, from *url.URL) (value any, err error) {
	root, err := d.parse(text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, selectTime)
	defer cancel()
	r := &reading{ctx: ctx, base: baseOf(root, from)}
	return r.object(root, d.fields)
}

// object selects fields of an element.
func (r *reading) object(n *html.Node, fields []namedSelection) (map[string]any, error) {
	out := make(map[string]any, len(fields))
	for i := range fields {
		v, err := r.value(n, &fields[i].selected)
		if err != nil {
			return nil, err
		}
		out[fields[i].name] = v
	}
	return out, nil
}

func (r *reading) value(n *html.Node, s *selected) (any, error) {
	if s.each != nil {
		return r.list(n, s)
	}
	if s.css != nil {
		found, err := r.find(n, s.css, 1)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		n = found[0]
	}
	return r.one(n, s)
}

func (r *reading) list(n *html.Node, s *selected) (any, error) {
	found, err := r.find(n, s.each, maxElements+1)
	if err != nil {
		return nil, err
	}
	out := make([]any, 0, len(found))
	for _, element := range found {
		v, err := r.one(element, s)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// one makes the value of an element.
func (r *reading) one(n *html.Node, s *selected) (any, error) {
	if s.fields != nil {
		return r.object(n, s.fields)
	}
	text := ""
	if s.attr == "" {
		var err error
		if text, err = r.textOf(n); err != nil {
			return nil, err
		}
	} else if at := attribute(n, s.attr); at != nil {
		text = strings.TrimSpace(*at)
	} else {
		return nil, nil
	}
	if s.link {
		if text = absolute(r.base, text); text == "" {
			return nil, nil
		}
	}
	if r.bytes += len(text); r.bytes > maxSelected {
		return nil, fmt.Errorf("%w: more than %d bytes selected", upstreams.ErrTooLarge, maxSelected)
	}
	return text, nil
}

// find returns the first elements below n that a selector matches, in the order of
// the page.
func (r *reading) find(n *html.Node, css cascadia.SelectorGroup, most int) ([]*html.Node, error) {
	var found []*html.Node
	for d := range n.Descendants() {
		if err := r.visit(); err != nil {
			return nil, err
		}
		if d.Type != html.ElementNode || !css.Match(d) {
			continue
		}
		if r.elements++; r.elements > maxElements {
			return nil, fmt.Errorf("%w: selectors match more than %d elements", upstreams.ErrTooLarge, maxElements)
		}
		if found = append(found, d); len(found) == most {
			break
		}
	}
	return found, nil
}

// visit counts an element or text that is looked at, and returns an error once there is
// no time for more.
func (r *reading) visit() error {
	if r.visited++; r.visited%nodesPerLook == 0 && r.ctx.Err() != nil {
		return fmt.Errorf("selecting from the page: %w", r.ctx.Err())
	}
	return nil
}

func attribute(n *html.Node, name string) *string {
	for i := range n.Attr {
		if n.Attr[i].Key == name && n.Attr[i].Namespace == "" {
			return &n.Attr[i].Val
		}
	}
	return nil
}

// textOf is the text of an element with white space collapsed, without scripts and
// styles. Blocks are apart from each other.
func (r *reading) textOf(n *html.Node) (string, error) {
	var b strings.Builder
	for d := range n.Descendants() {
		if err := r.visit(); err != nil {
			return "", err
		}
		switch {
		case d.Type == html.ElementNode && !inline(d.DataAtom):
			b.WriteByte(' ')
		case d.Type == html.TextNode && !hidden(d.Parent.DataAtom):
			b.WriteString(d.Data)
			if d.NextSibling == nil && !inline(d.Parent.DataAtom) {
				b.WriteByte(' ')
			}
		}
	}
	return strings.Join(strings.Fields(b.String()), " "), nil
}

// inline reports whether an element is a part of a line of text.
func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Img, atom.Ins, atom.Kbd,
		atom.Label, atom.Mark, atom.Q, atom.Rp, atom.Rt, atom.Ruby, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// hidden reports whether texts in an element are not shown.
func hidden(a atom.Atom) bool {
	return a == atom.Script || a == atom.Style || a == atom.Template || a == atom.Noscript
}

// baseOf is the address that a page's links are relative to: that of its base
// element, or else its own.
func baseOf(root *html.Node, from *url.URL) *url.URL {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Body {
			break
		}
		if n.DataAtom != atom.Base {
			continue
		}
		if href := attribute(n, "href"); href != nil {
			if u, err := from.Parse(strings.TrimSpace(*href)); err == nil {
				return u
			}
		}
	}
	return from
}

// absolute is an http or https address without credentials; "" for anything else.
func absolute(base *url.URL, link string) string {
	link = strings.TrimSpace(link)
	u, err := base.Parse(link)
	if link == "" || err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
