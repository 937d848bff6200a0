package ipcard

import (
	"encoding/xml"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// read parses a card as XML and returns its texts, having checked that it has
// nothing that a picture must not contain: other elements, references, styles,
// handlers.
func read(t *testing.T, svg []byte) []string {
	t.Helper()
	elements := []string{"svg", "title", "path", "g", "text"}
	attributes := []string{
		"xmlns", "lang", "role", "width", "height", "viewBox", "fill", "d", "font-family",
		"x", "y", "font-size", "font-weight", "textLength", "lengthAdjust",
	}
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(elements, token.Name.Local) {
				t.Fatalf("element %s in %s", token.Name.Local, svg)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Name.Local) || a.Name.Local != "xmlns" && strings.Contains(a.Value, ":") {
					t.Fatalf("attribute %s=%q in %s", a.Name.Local, a.Value, svg)
				}
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(token)); s != "" {
				texts = append(texts, s)
			}
		case xml.ProcInst, xml.Directive, xml.Comment:
			t.Fatalf("%T in %s", token, svg)
		}
	}
}

func TestSVGIsPlainAndSmall(t *testing.T) {
	p := acquired(t)
	for name, c := range cards() {
		b, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		if len(b) > 8<<10 {
			t.Errorf("%s: %d bytes", name, len(b))
		}
		f := c.texts(clean)
		want := []string{f.address + " " + f.place}
		for _, l := range slices.Concat(p.labels(), p.lines(f)) {
			want = append(want, l.text)
		}
		if got := read(t, b); !slices.Equal(got, want) {
			t.Errorf("%s: texts\n got %q\nwant %q", name, got, want)
		}
	}
}

func TestSVGEscapesUntrustedText(t *testing.T) {
	c := Card{
		IP: netip.MustParseAddr("192.0.2.1"), Place: "<script>alert(1)</script>", ISP: "A&B \"c\" ]]>",
		System: "\x00<\x08>\ufffe\xff", Browser: "a\u202eb\u200b\x1bc", Now: noon,
	}
	b, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	texts := read(t, b)
	for _, want := range []string{"<script>alert(1)</script> · A&B \"c\" ]]>", "<>", "abc"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not among %q", want, texts)
		}
	}
	if strings.Contains(string(b), "<script") {
		t.Errorf("markup in %s", b)
	}
}

func TestSVGFixesTheWidthOfLongLines(t *testing.T) {
	for name, c := range cards() {
		b, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(b), `textLength="`)[1:] {
			number, _, _ := strings.Cut(part, `"`)
			if n, err := strconv.Atoi(number); err != nil || n <= 0 || n > inner {
				t.Errorf("%s: a line of %q pixels", name, number)
			}
		}
		if name == "wide" && strings.Count(string(b), "textLength") != 5 {
			t.Errorf("%s: %d lines of fixed width, want 5", name, strings.Count(string(b), "textLength"))
		}
	}
}

func FuzzCard(f *testing.F) {
	for _, c := range cards() {
		f.Add(c.Place, c.ISP, c.System, c.Browser)
	}
	f.Fuzz(func(t *testing.T, place, isp, system, browser string) {
		c := Card{netip.MustParseAddr("192.0.2.1"), place, isp, system, browser, noon}
		p := acquired(t)
		img := p.card()
		for _, l := range p.lines(c.texts(p.legible)) {
			if err := p.draw(img, l); err != nil {
				t.Fatal(err)
			}
		}
		if stray := strays(img, p.background); stray != "" {
			t.Error(stray)
		}
		b, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		read(t, b)
	})
}
