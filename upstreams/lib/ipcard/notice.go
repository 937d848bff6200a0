package ipcard

import (
	"image"
)

// Notice is a small picture in the place of one that cannot be had: it says why. Its texts are
// the program's own.
type Notice struct {
	Title string
	// About says more, on two lines at most.
	About string
	// Note is a line for those who look closer, such as a status.
	Note string
	// Language of the texts, as BCP 47 has it, such as en.
	Language string
}

// Lengths of a notice in pixels. Its mark is a ring around an exclamation mark.
const (
	noticeWidth  = 360
	noticeHeight = 120
	noticeLeft   = 92
	aboutSize    = 13

	markX, markY, markR = 49, 60, 24
)

// PNG draws the notice, 360 by 120 pixels with transparent corners: some 4 KB.
func (n *Notice) PNG() ([]byte, error) {
	p, done, err := acquireRenderer()
	if err != nil {
		return nil, err
	}
	defer done()
	img := image.NewPaletted(image.Rect(0, 0, noticeWidth, noticeHeight), palette(alarm))
	for _, s := range noticeShapes() {
		s.draw(img)
	}
	return p.png("notice", img, n.lines(p))
}

// SVG draws the same with the viewer's own fonts.
func (n *Notice) SVG() ([]byte, error) {
	p, done, err := acquireRenderer()
	if err != nil {
		return nil, err
	}
	defer done()
	d := drawing{accent: alarm, language: n.Language, width: noticeWidth, height: noticeHeight, title: n.Title + " " + n.About, shapes: noticeShapes(), lines: n.lines(p)}
	return d.svg(), nil
}

func (n *Notice) lines(p *renderer) []line {
	const room = noticeWidth - noticeLeft - 20
	lines := []line{p.fit(line{text: n.Title, x: noticeLeft, y: 36, style: style{regular, 18}, blend: inkOnPaper, maxWidth: room}, 12)}
	for i, part := range p.wrap(p.legible(n.About), room*1000/aboutSize, 2) {
		lines = append(lines, p.fit(line{text: part, x: noticeLeft, y: 60 + 19*i, style: style{regular, aboutSize}, blend: softOnPaper, maxWidth: room}, 10))
	}
	return append(lines, p.fit(line{text: n.Note, x: noticeLeft, y: 103, style: style{regular, 12}, blend: mutedOnPaper, maxWidth: room}, 10))
}

// noticeShapes are those of a card without its footer.
func noticeShapes() []shape {
	const (
		right, bottom = noticeWidth - 1, noticeHeight - 1
		split         = radius - 1
	)
	square, round, inset, arc := corner{}, corner{radius, radius}, corner{radius - stripe, radius - 1}, corner{radius - 1, radius - 1}
	return []shape{
		{accentOnClear, roundedRect(0, 0, radius, noticeHeight, round, square, square, round)},
		{borderOnClear, roundedRect(split, 0, noticeWidth, noticeHeight, square, round, round, square)},
		{paperOnAccent, roundedRect(stripe, 1, radius, bottom, inset, square, square, inset)},
		{paperOnBorder, roundedRect(split, 1, right, bottom, square, arc, arc, square)},
		{accentOnPaper, mark},
	}
}

// mark is a ring around an exclamation mark.
func mark(z pathWriter) {
	const thin, half = 2.5, 1.75
	ellipse(z, markX, markY, markR, markR, 1)
	ellipse(z, markX, markY, markR-thin, markR-thin, -1)
	tip := corner{half, half}
	roundedRect(markX-half, markY-12, markX+half, markY+4, tip, tip, tip, tip)(z)
	ellipse(z, markX, markY+10, half+0.5, half+0.5, 1)
}
