package httpsource

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"

	"sundry/upstreams/lib/charsets"
)

// xmlDeclaration begins a document, with its encoding.
var xmlDeclaration = regexp.MustCompile(`^\s*<\?xml\s([^>]*\sencoding\s*=\s*["']([A-Za-z0-9._:-]+))?[^>]*>`)

// textOfXML is an XML document in UTF-8, without the XML declaration, whose encoding
// counts where the catalog file declares no charset; and without control characters, which
// XML does not allow and feeds have. Bytes that the encoding lacks become U+FFFD.
func textOfXML(body []byte, declared encoding.Encoding) ([]byte, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	name := "utf-8"
	if found := xmlDeclaration.FindSubmatch(body); found != nil {
		body = body[len(found[0]):]
		// What says in ASCII that it is UTF-16 is not.
		if label := strings.ToLower(string(found[2])); label != "" && !strings.HasPrefix(label, "utf-16") {
			name = label
		}
	}
	if declared == nil {
		var ok bool
		if declared, _, ok = charsets.Of(name); !ok {
			return nil, fmt.Errorf("body as XML: its encoding %q is not known; declare a charset", name)
		}
	}
	text, err := toUTF8(body, declared)
	if err != nil {
		return nil, err
	}
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, text), nil
}

// parseXML makes a tree of a document. Names are in lower case, as those of selectors are,
// and have the prefix that the document writes: media:content. Entities that the document
// declares stay as they are written, and nothing else is read for it.
func parseXML(text []byte) (*html.Node, error) {
	t := newTree()
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Strict, d.Entity = false, xml.HTMLEntity
	for {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return t.whole()
		case err != nil:
			return nil, fmt.Errorf("body as XML: %w", err)
		}
		if err := t.addXML(token); err != nil {
			return nil, err
		}
	}
}

func (t *tree) addXML(token xml.Token) error {
	switch token := token.(type) {
	case xml.CharData:
		t.append(&html.Node{Type: html.TextNode, Data: string(token)})
	case xml.StartElement:
		n := &html.Node{Type: html.ElementNode, Data: nameOf(token.Name)}
		for _, a := range token.Attr[:min(len(token.Attr), maxAttributes)] {
			n.Attr = append(n.Attr, html.Attribute{Key: nameOf(a.Name), Val: a.Value})
		}
		t.push(n)
	case xml.EndElement:
		name := nameOf(token.Name)
		if t.top().Data != name {
			return fmt.Errorf("body as XML: </%s> ends nothing", name)
		}
		t.open = t.open[:len(t.open)-1]
	}
	return t.check()
}

// whole is the root of a document that has one and ends.
func (t *tree) whole() (*html.Node, error) {
	if len(t.open) > 1 {
		return nil, fmt.Errorf("body as XML: <%s> has no end", t.top().Data)
	}
	for n := range t.root.ChildNodes() {
		if n.Type == html.ElementNode {
			return t.root, nil
		}
	}
	return nil, errors.New("body as XML: it has no element")
}

func nameOf(name xml.Name) string {
	if name.Space != "" {
		return strings.ToLower(name.Space + ":" + name.Local)
	}
	return strings.ToLower(name.Local)
}
