package ipcard

import (
	"image"
	"strconv"
	"strings"
	"unicode"
)

// Digest is a digest of news as a picture, where its publisher has none.
type Digest struct {
	// Title and Date head it.
	Title, Date string
	News        []string
	// Tip is the thought of the day at its end; "" for none.
	Tip string
}

// Bounds of a digest: of the news, so many are drawn, each in so many lines.
const (
	digestNews  = 40
	digestLines = 6
)

// Lengths of a digest in pixels. The news stand beside a column of numbers.
const (
	digestWidth  = 720
	digestMargin = 40
	digestBand   = 128
	digestColumn = 44
	digestSize   = 22
	digestStep   = 34
	digestGap    = 12
	digestFoot   = 30
)

// PNG draws the digest, 720 pixels wide and as high as its news take: some 80 KB.
func (d *Digest) PNG() ([]byte, error) {
	return render(func(p *renderer) ([]byte, error) {
		lines, height := d.lines(p)
		img := image.NewPaletted(image.Rect(0, 0, digestWidth, height), palette(accent))
		accentOnClear.fill(img, image.Rect(0, 0, digestWidth, digestBand))
		paperOnBorder.fill(img, image.Rect(0, digestBand, digestWidth, height))
		return p.png("digest", img, lines)
	})
}

// lines are the texts of the digest, and its height.
func (d *Digest) lines(p *renderer) (lines []line, height int) {
	const room = digestWidth - 2*digestMargin
	lines = []line{
		p.fit(line{text: p.legible(d.Title), x: digestMargin, y: 66, style: style{regular, 40}, blend: paperOnAccent, maxWidth: room}, 20),
		p.fit(line{text: p.legible(d.Date), x: digestMargin, y: 104, style: style{regular, 20}, blend: paperOnAccent, maxWidth: room}, 12),
	}
	y := digestBand + digestMargin
	paragraph := func(number, text string, b blend) {
		if number != "" {
			lines = append(lines, line{text: number, x: digestMargin, y: y + digestSize*3/4, style: style{regular, digestSize}, blend: accentOnPaper})
		}
		for _, part := range p.wrap(p.legible(text), (room-digestColumn)*1000/digestSize, digestLines) {
			lines = append(lines, line{text: part, x: digestMargin + digestColumn, y: y + digestSize*3/4, style: style{regular, digestSize}, blend: b})
			y += digestStep
		}
		y += digestGap
	}
	for i, text := range d.News[:min(len(d.News), digestNews)] {
		paragraph(strconv.Itoa(i+1), text, inkOnPaper)
	}
	if d.Tip != "" {
		y += digestGap
		paragraph("", "【微语】"+d.Tip, mutedOnPaper)
	}
	return lines, y + digestFoot
}

// wrap breaks a text into lines that are at most limit thousandths of the size wide. The
// last of the lines that are allowed is cut.
func (p *renderer) wrap(s string, limit, most int) []string {
	var lines []string
	current, width := "", 0
	for _, word := range p.pieces(s, limit) {
		w := p.width(regular, word)
		if width > 0 && width+w > limit {
			if len(lines) == most-1 {
				return append(lines, p.cut(regular, current+word, limit))
			}
			lines = append(lines, strings.TrimRight(current, " "))
			current, width = "", 0
			if word = strings.TrimLeft(word, " "); word == "" {
				continue
			}
			w = p.width(regular, word)
		}
		if w > limit {
			word = p.cut(regular, word, limit)
		}
		current, width = current+word, width+w
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// pieces are what is unbreakable, and addresses that no line has room for in parts.
func (p *renderer) pieces(s string, limit int) (pieces []string) {
	for _, word := range unbreakable(s) {
		if p.width(regular, word) > limit {
			pieces = append(pieces, strings.SplitAfter(word, "/")...)
		} else {
			pieces = append(pieces, word)
		}
	}
	return pieces
}

// Punctuation that no line begins with, and that none ends with.
const (
	closing = "，。、；：？！）》」』】〉”’…—%％,.;:?!)]}℃"
	opening = "（《「『【〈“‘([{"
)

// unbreakable splits a text where a line may end: between Chinese characters, and at
// spaces, but not within words and numbers, nor between a character and the punctuation
// that belongs to it.
func unbreakable(s string) []string {
	var words []string
	var word strings.Builder
	last := rune(0)
	for _, r := range s {
		if last != 0 && breaks(last, r) {
			words = append(words, word.String())
			word.Reset()
		}
		word.WriteRune(r)
		last = r
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// breaks reports whether a line may end between two characters.
func breaks(a, b rune) bool {
	switch {
	case strings.ContainsRune(closing, b), strings.ContainsRune(opening, a):
		return false
	case a == ' ' || b == ' ':
		return a == ' ' && b != ' '
	}
	return unicode.Is(unicode.Han, a) || unicode.Is(unicode.Han, b) || strings.ContainsRune(closing, a) && a > unicode.MaxASCII || strings.ContainsRune(opening, b)
}
