package ipcard

// The card's size in pixels.
const (
	cardWidth  = 480
	cardHeight = 200
)

// Lengths of the layout in pixels: text keeps the margin on both sides, and
// the foot holds columns of a label over a value.
const (
	margin  = 28
	inner   = cardWidth - 2*margin
	footTop = 132
	radius  = 14
	stripe  = 6

	pinX, pinY             = margin + 6, 104
	globeX, globeY, globeR = 404, 66, 46
)

// line is a text in its place: from x to the right, on the baseline y, width
// pixels wide in a box of room pixels.
type line struct {
	text        string
	x, y        int
	style       style
	blend       blend
	width, room int
}

// Columns of the foot; the last is as wide as the longest date.
var (
	systemColumn  = line{x: margin, room: 118}
	browserColumn = line{x: margin + 134, room: 122}
	dateColumn    = line{x: margin + 272, room: inner - 272}
)

// labels are the texts of the foot that every card has.
func (p *pen) labels() []line {
	return []line{p.label(systemColumn, "操作系统"), p.label(browserColumn, "浏览器"), p.label(dateColumn, "日期")}
}

func (p *pen) label(l line, text string) line {
	l.text, l.y, l.style, l.blend = text, 158, style{regular, 12}, mutedOnFoot
	return p.fit(l, 12)
}

func (p *pen) value(l line, text string) line {
	l.text, l.y, l.style, l.blend = text, 180, style{regular, 14}, inkOnFoot
	return p.fit(l, 12)
}

// lines are the texts that differ between cards.
func (p *pen) lines(f facts) []line {
	heading := line{text: f.heading, x: margin, y: 36, style: style{regular, 13}, blend: mutedOnPaper, room: inner}
	place := line{text: f.place, x: margin + 20, y: 111, style: style{regular, 16}, blend: softOnPaper, room: inner - 20}
	return []line{
		p.fit(heading, 13), p.address(f), p.fit(place, 13),
		p.value(systemColumn, f.system), p.value(browserColumn, f.browser), p.value(dateColumn, f.date),
	}
}

// address is as large as fits, in the middle between its neighbours: capitals
// and digits are some 3/4 of the size tall.
func (p *pen) address(f facts) line {
	l := line{text: f.address, x: margin, style: style{bold, 38}, blend: inkOnPaper, room: inner}
	if f.address == unknownAddress {
		l.style = style{regular, 32}
	}
	l = p.fit(l, 20)
	l.y = 65 + l.style.size*3/8
	return l
}

// fit makes a line's text smaller, but not below least pixels, then cuts it,
// until it fits its room.
func (p *pen) fit(l line, least int) line {
	width := p.width(l.style.weight, l.text)
	if width*l.style.size > l.room*1000 {
		l.style.size = max(least, l.room*1000/width)
	}
	if width*l.style.size > l.room*1000 {
		l.text = p.cut(l.style.weight, l.text, l.room*1000/l.style.size)
		width = p.width(l.style.weight, l.text)
	}
	l.width = (width*l.style.size + 999) / 1000
	return l
}
