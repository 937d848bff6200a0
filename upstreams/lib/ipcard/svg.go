package ipcard

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
)

// svgFonts are the Chinese fonts of Apple's, Microsoft's and free systems.
const svgFonts = "'PingFang SC','Microsoft YaHei','Noto Sans CJK SC','Noto Sans SC',sans-serif"

// SVG draws the same card with the viewer's own fonts, in some 3 KB: well-formed
// XML without scripts, styles or references. The card's texts are cleaned and
// escaped.
func (c *Card) SVG() ([]byte, error) {
	return render(func(p *renderer) ([]byte, error) {
		f := c.texts(clean)
		d := drawing{accent: accent, language: "zh-CN", width: cardWidth, height: cardHeight, title: f.address + " " + f.place, shapes: shapes(), lines: slices.Concat(p.labels(), p.lines(f))}
		return d.svg(), nil
	})
}

// drawing is what a picture consists of.
type drawing struct {
	accent        color.NRGBA
	language      string // of the texts
	width, height int
	title         string
	shapes        []shape
	lines         []line
}

func (d *drawing) svg() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xml:lang="%s" role="img" width="%d" height="%d" viewBox="0 0 %[2]d %[3]d">`, escaped(d.language), d.width, d.height)
	fmt.Fprintf(&b, "<title>%s</title>", escaped(d.title))
	for _, s := range d.shapes {
		var path svgPath
		s.path(&path)
		_, upper := s.blend.colours(d.accent)
		fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`, hex(upper), path.Bytes())
	}
	fmt.Fprintf(&b, `<g font-family="%s">`, svgFonts)
	for _, l := range d.lines {
		l.svg(&b, d.accent)
	}
	b.WriteString("</g></svg>\n")
	return b.Bytes()
}

// svg writes a line. The viewer's fonts may be a third wider than the embedded
// ones; a line that could then exceed its maxWidth gets a fixed width.
func (l line) svg(b *bytes.Buffer, accent color.NRGBA) {
	_, upper := l.blend.colours(accent)
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="%d" fill="%s"`, l.x, l.y, l.style.size, hex(upper))
	if l.style.weight == bold {
		b.WriteString(` font-weight="700"`)
	}
	if l.width*4 > l.maxWidth*3 {
		fmt.Fprintf(b, ` textLength="%d" lengthAdjust="spacingAndGlyphs"`, l.width)
	}
	fmt.Fprintf(b, ">%s</text>", escaped(l.text))
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a Buffer never fails to write
	return b.String()
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// svgPath writes a path in SVG's syntax, to a hundredth of a pixel.
type svgPath struct{ bytes.Buffer }

// MoveTo implements pathWriter.
func (s *svgPath) MoveTo(x, y float32) { s.command('M', x, y) }

// LineTo implements pathWriter.
func (s *svgPath) LineTo(x, y float32) { s.command('L', x, y) }

// CubeTo implements pathWriter.
func (s *svgPath) CubeTo(bx, by, cx, cy, dx, dy float32) { s.command('C', bx, by, cx, cy, dx, dy) }

// ClosePath implements pathWriter.
func (s *svgPath) ClosePath() { s.WriteByte('z') }

func (s *svgPath) command(name byte, numbers ...float32) {
	s.WriteByte(name)
	for i, n := range numbers {
		if i > 0 {
			s.WriteByte(' ')
		}
		hundredths := math.Round(float64(n) * 100)
		s.Write(strconv.AppendFloat(s.AvailableBuffer(), hundredths/100, 'f', -1, 64))
	}
}
