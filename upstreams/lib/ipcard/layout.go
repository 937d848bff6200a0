package ipcard

// The card's size in pixels.
const (
	cardWidth  = 480
	cardHeight = 200
)

// Lengths of the layout in pixels: text keeps the margin on both sides, and
// the footer has columns of a label above a value.
const (
	margin    = 28
	inner     = cardWidth - 2*margin
	footerTop = 132
	radius    = 14
	stripe    = 6

	pinX, pinY             = margin + 6, 104
	globeX, globeY, globeR = 404, 66, 46
)

// line is a text with its position: from x to the right, on the baseline y, width
// pixels wide in a box of maxWidth pixels.
type line struct {
	text            string
	x, y            int
	style           style
	blend           blend
	width, maxWidth int
}

// Columns of the footer; the last is as wide as the longest date.
var (
	systemColumn  = line{x: margin, maxWidth: 118}
	browserColumn = line{x: margin + 134, maxWidth: 122}
	dateColumn    = line{x: margin + 272, maxWidth: inner - 272}
)

// labels are the texts of the footer that every card has.
func (p *renderer) labels() []line {
	return []line{p.label(systemColumn, "操作系统"), p.label(browserColumn, "浏览器"), p.label(dateColumn, "日期")}
}

func (p *renderer) label(l line, text string) line {
	l.text, l.y, l.style, l.blend = text, 158, style{regular, 12}, mutedOnFooter
	return p.fit(l, 12)
}

func (p *renderer) value(l line, text string) line {
	l.text, l.y, l.style, l.blend = text, 180, style{regular, 14}, inkOnFooter
	return p.fit(l, 12)
}

// lines are the texts that differ between cards.
func (p *renderer) lines(f texts) []line {
	heading := line{text: f.heading, x: margin, y: 36, style: style{regular, 13}, blend: mutedOnPaper, maxWidth: inner}
	place := line{text: f.place, x: margin + 20, y: 111, style: style{regular, 16}, blend: softOnPaper, maxWidth: inner - 20}
	return []line{
		p.fit(heading, 13), p.address(f), p.fit(place, 13),
		p.value(systemColumn, f.system), p.value(browserColumn, f.browser), p.value(dateColumn, f.date),
	}
}

// address is as large as fits, centred between the lines above and below: capitals
// and digits are some 3/4 of the size tall.
func (p *renderer) address(f texts) line {
	l := line{text: f.address, x: margin, style: style{bold, 38}, blend: inkOnPaper, maxWidth: inner}
	if f.address == unknownAddress {
		l.style = style{regular, 32}
	}
	l = p.fit(l, 20)
	l.y = 65 + l.style.size*3/8
	return l
}

// fit reduces the size of a line's text, but not below least pixels, then cuts the
// text, until it fits maxWidth.
func (p *renderer) fit(l line, least int) line {
	width := p.width(l.style.weight, l.text)
	if width*l.style.size > l.maxWidth*1000 {
		l.style.size = max(least, l.maxWidth*1000/width)
	}
	if width*l.style.size > l.maxWidth*1000 {
		l.text = p.cut(l.style.weight, l.text, l.maxWidth*1000/l.style.size)
		width = p.width(l.style.weight, l.text)
	}
	l.width = (width*l.style.size + 999) / 1000
	return l
}
