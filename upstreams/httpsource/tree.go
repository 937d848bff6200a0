package httpsource

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"sundry/upstreams"
)

// Bounds of the tree of a page or XML document, far above what any source sends.
const (
	maxNodes        = 300_000
	maxNesting      = 512
	maxAttributes   = 256 // of an element; the others are left out
	nodeMemory      = 240 // bytes
	attributeMemory = 240 // with what the tokenizer takes
)

// tree builds the elements of a page from its tags. It knows the end tags that may be
// left out, and ignores those that close nothing. Unlike a browser, it never opens an
// element twice: that would let a page of a few kilobytes become millions of
// elements.
type tree struct {
	root  *html.Node
	open  []*html.Node // from the root down
	nodes int
}

func newTree() *tree {
	root := &html.Node{Type: html.DocumentNode}
	return &tree{root: root, open: []*html.Node{root}}
}

// parsePage makes a tree of a page.
func parsePage(page []byte) (*html.Node, error) {
	t := newTree()
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("body as HTML: %w", err)
			}
			return t.root, nil
		}
		if err := t.add(kind, z); err != nil {
			return nil, err
		}
	}
}

// memoryOf is at least what the tree of a page takes. Before each attribute there is
// white space, a slash, or the value of another one.
func memoryOf(page []byte) int64 {
	attributes := 0
	for _, mark := range [...]string{" ", "\n", "\t", "\r", "\f", "/", "="} {
		attributes += bytes.Count(page, []byte(mark))
	}
	return int64(2*bytes.Count(page, []byte("<"))*nodeMemory + attributes*attributeMemory + 2*len(page))
}

func (t *tree) add(kind html.TokenType, z *html.Tokenizer) error {
	switch kind {
	case html.TextToken:
		t.append(&html.Node{Type: html.TextNode, Data: string(z.Text())})
	case html.StartTagToken, html.SelfClosingTagToken:
		t.start(element(z), kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := z.TagName()
		t.end(string(name))
	}
	return t.check()
}

// check refuses a tree that is too large or too deep.
func (t *tree) check() error {
	switch {
	case t.nodes > maxNodes:
		return fmt.Errorf("%w: more than %d elements and texts", upstreams.ErrTooLarge, maxNodes)
	case len(t.open) > maxNesting:
		return fmt.Errorf("body: elements are nested more than %d levels deep", maxNesting)
	}
	return nil
}

func (t *tree) top() *html.Node { return t.open[len(t.open)-1] }

func (t *tree) append(n *html.Node) {
	t.top().AppendChild(n)
	t.nodes++
}

// element is that of a start tag.
func element(z *html.Tokenizer) *html.Node {
	name, more := z.TagName()
	n := &html.Node{Type: html.ElementNode, DataAtom: atom.Lookup(name)}
	if n.Data = n.DataAtom.String(); n.DataAtom == 0 {
		n.Data = string(name)
	}
	for more && len(n.Attr) < maxAttributes {
		var key, value []byte
		key, value, more = z.TagAttr()
		n.Attr = append(n.Attr, html.Attribute{Key: atom.String(key), Val: string(value)})
	}
	return n
}

func (t *tree) start(n *html.Node, closed bool) {
	t.closeImplied(n.DataAtom)
	if n.DataAtom == atom.Tr && t.top().DataAtom == atom.Table {
		t.push(&html.Node{Type: html.ElementNode, DataAtom: atom.Tbody, Data: "tbody"})
	}
	if closed || void(n.DataAtom) {
		t.append(n)
		return
	}
	t.push(n)
}

func (t *tree) push(n *html.Node) {
	t.append(n)
	t.open = append(t.open, n)
}

// end closes the element of an end tag, and all within it. The end of a part of a line
// does not close blocks.
func (t *tree) end(name string) {
	partOfLine := inline(atom.Lookup([]byte(name)))
	for i := len(t.open) - 1; i > 0; i-- {
		switch n := t.open[i]; {
		case n.Data == name:
			t.open = t.open[:i]
			return
		case partOfLine && !inline(n.DataAtom), n.DataAtom == atom.Table && name != "body" && name != "html":
			return
		}
	}
}

// closeImplied closes the elements whose end tags may be left out before a start tag.
func (t *tree) closeImplied(next atom.Atom) {
	ends, within := implied(next)
	for i := len(t.open) - 1; i > 0 && len(ends) > 0; i-- {
		a := t.open[i].DataAtom
		if slices.Contains(ends, a) {
			t.open = t.open[:i]
			continue
		}
		if slices.Contains(within, a) || !inline(a) && !slices.Contains(ends, a) && a != atom.P {
			return
		}
	}
}

// implied returns which elements a start tag ends, and which it does not look out of.
func implied(next atom.Atom) (ends, within []atom.Atom) {
	switch next {
	case atom.Li:
		return []atom.Atom{atom.Li, atom.P}, []atom.Atom{atom.Ul, atom.Ol, atom.Menu}
	case atom.Dt, atom.Dd:
		return []atom.Atom{atom.Dt, atom.Dd, atom.P}, []atom.Atom{atom.Dl}
	case atom.Option, atom.Optgroup:
		return []atom.Atom{atom.Option}, []atom.Atom{atom.Select}
	case atom.Td, atom.Th:
		return []atom.Atom{atom.Td, atom.Th, atom.P}, []atom.Atom{atom.Tr}
	case atom.Tr:
		return []atom.Atom{atom.Td, atom.Th, atom.Tr, atom.P}, []atom.Atom{atom.Table}
	case atom.Tbody, atom.Thead, atom.Tfoot:
		return []atom.Atom{atom.Td, atom.Th, atom.Tr, atom.Tbody, atom.Thead, atom.Tfoot, atom.P}, []atom.Atom{atom.Table}
	case atom.Body:
		return []atom.Atom{atom.Head}, []atom.Atom{atom.Html}
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Div, atom.Dl, atom.Fieldset, atom.Figure, atom.Footer, atom.Form, atom.H1, atom.H2, atom.H3,
		atom.H4, atom.H5, atom.H6, atom.Header, atom.Hr, atom.Main, atom.Nav, atom.Ol, atom.P, atom.Pre, atom.Section, atom.Table, atom.Ul:
		return []atom.Atom{atom.P}, nil
	}
	return nil, nil
}

// void reports whether an element never has content.
func void(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Br, atom.Col, atom.Embed, atom.Hr, atom.Img, atom.Input, atom.Link, atom.Meta, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}
