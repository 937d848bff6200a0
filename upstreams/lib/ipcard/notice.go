package ipcard

import (
	"image"
	"strings"
)

// Notice is a small picture in the place of one that cannot be had: it says why. Its texts are
// the program's own.
type Notice struct {
	Title string
	// About says more, and Example goes on with it, on four lines at most: where they need more, About is cut.
	About, Example string
	// Note is a line for those who look closer, such as a status.
	Note string
	// Language of the texts, as BCP 47 has it, such as en.
	Language string
}

// Lengths of a notice in pixels, with two lines of About or fewer: it grows with more. Its mark is
// a ring around an exclamation mark.
const (
	noticeWidth  = 360
	noticeHeight = 120
	noticeLeft   = 92
	noticeLines  = 4
	aboutSize    = 13
	aboutStep    = 19

	markX, markR = 49, 24
)

// PNG draws the notice, 360 pixels wide and 120 high or more, with transparent corners: some 4 KB.
func (n *Notice) PNG() ([]byte, error) {
	return render(func(p *renderer) ([]byte, error) {
		lines, height := n.lines(p)
		img := image.NewPaletted(image.Rect(0, 0, noticeWidth, height), palette(alarm))
		for _, s := range noticeShapes(height) {
			s.draw(img)
		}
		return p.png("notice", img, lines)
	})
}

// SVG draws the same with the viewer's own fonts.
func (n *Notice) SVG() ([]byte, error) {
	return render(func(p *renderer) ([]byte, error) {
		lines, height := n.lines(p)
		d := drawing{accent: alarm, language: n.Language, width: noticeWidth, height: height, title: n.Title + " " + n.About + n.Example, shapes: noticeShapes(height), lines: lines}
		return d.svg(), nil
	})
}

// lines are the texts of the notice, and its height.
func (n *Notice) lines(p *renderer) (lines []line, height int) {
	const room = noticeWidth - noticeLeft - 20
	lines = []line{p.fit(line{text: n.Title, x: noticeLeft, y: 36, style: style{regular, 18}, blend: inkOnPaper, maxWidth: room}, 12)}
	about := n.about(p, room*1000/aboutSize)
	for i, part := range about {
		lines = append(lines, p.fit(line{text: part, x: noticeLeft, y: 60 + aboutStep*i, style: style{regular, aboutSize}, blend: softOnPaper, maxWidth: room}, 10))
	}
	height = noticeHeight + aboutStep*max(0, len(about)-2)
	return append(lines, p.fit(line{text: n.Note, x: noticeLeft, y: height - 17, style: style{regular, 12}, blend: mutedOnPaper, maxWidth: room}, 10)), height
}

// about are the lines of About and Example.
func (n *Notice) about(p *renderer, limit int) []string {
	whole := p.wrap(p.legible(n.About+n.Example), limit, noticeLines+1)
	if len(whole) <= noticeLines {
		return whole
	}
	example := p.wrap(p.legible(strings.TrimLeft(n.Example, ",， ")), limit, noticeLines-1)
	return append(p.wrap(p.legible(n.About), limit, noticeLines-len(example)), example...)
}

// noticeShapes are those of a card without its footer.
func noticeShapes(height int) []shape {
	const right, split = noticeWidth - 1, radius - 1
	high, bottom := float32(height), float32(height-1)
	square, round, inset, arc := corner{}, corner{radius, radius}, corner{radius - stripe, radius - 1}, corner{radius - 1, radius - 1}
	return []shape{
		{accentOnClear, roundedRect(0, 0, radius, high, round, square, square, round)},
		{borderOnClear, roundedRect(split, 0, noticeWidth, high, square, round, round, square)},
		{paperOnAccent, roundedRect(stripe, 1, radius, bottom, inset, square, square, inset)},
		{paperOnBorder, roundedRect(split, 1, right, bottom, square, arc, arc, square)},
		{accentOnPaper, mark(high / 2)},
	}
}

// mark is a ring around an exclamation mark, at the middle of the notice.
func mark(middle float32) func(pathWriter) {
	const thin, half = 2.5, 1.75
	return func(z pathWriter) {
		ellipse(z, markX, middle, markR, markR, 1)
		ellipse(z, markX, middle, markR-thin, markR-thin, -1)
		tip := corner{half, half}
		roundedRect(markX-half, middle-12, markX+half, middle+4, tip, tip, tip, tip)(z)
		ellipse(z, markX, middle+10, half+0.5, half+0.5, 1)
	}
}
