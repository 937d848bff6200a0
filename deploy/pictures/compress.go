package main

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
)

// mostColors is how many colours a picture keeps: with a palette it takes a third of
// the space, and pages of few colours lose nothing that can be seen.
const mostColors = 256

// compressed is a PNG with a palette of the colours that occur most, which takes much
// less space than the screenshot.
func compressed(screenshot []byte) ([]byte, error) {
	src, err := png.Decode(bytes.NewReader(screenshot))
	if err != nil {
		return nil, err
	}
	out := image.NewPaletted(src.Bounds(), paletteOf(src))
	draw.FloydSteinberg.Draw(out, out.Bounds(), src, src.Bounds().Min)
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out)
	return b.Bytes(), err
}

// exactColors is how many of them are kept as they are: those of areas and texts.
const exactColors = 96

// paletteOf has the colours that occur most, and others by median cut: the box of
// colours with the widest side is halved until there are enough of them.
func paletteOf(src image.Image) color.Palette {
	all := colorsOf(src)
	exact := min(exactColors, len(all))
	var boxes []box
	for i := range all[:exact] {
		boxes = append(boxes, all[i:i+1])
	}
	if exact < len(all) {
		boxes = append(boxes, all[exact:])
	}
	for len(boxes) < mostColors {
		slices.SortFunc(boxes, func(a, b box) int { return b.spread() - a.spread() })
		if boxes[0].spread() == 0 {
			break
		}
		one, two := boxes[0].halves()
		boxes = append(boxes[1:], one, two)
	}
	p := make(color.Palette, len(boxes))
	for i, b := range boxes {
		p[i] = b.mean()
	}
	return p
}

// shade is a colour and how many pixels have it.
type shade struct {
	rgb   [3]uint8
	count int
}

// box is a set of colours that become one.
type box []shade

// colorsOf are the colours of a picture, the most frequent first.
func colorsOf(src image.Image) box {
	counts := map[[3]uint8]int{}
	for y := src.Bounds().Min.Y; y < src.Bounds().Max.Y; y++ {
		for x := src.Bounds().Min.X; x < src.Bounds().Max.X; x++ {
			r, g, b, _ := src.At(x, y).RGBA()
			counts[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
		}
	}
	var out box
	for rgb, n := range counts {
		out = append(out, shade{rgb, n})
	}
	slices.SortFunc(out, func(a, b shade) int { return cmp.Or(b.count-a.count, slices.Compare(a.rgb[:], b.rgb[:])) })
	return out
}

// widest is the channel in which the colours differ most, and by how much.
func (b box) widest() (channel, width int) {
	for c := range 3 {
		least, most := uint8(255), uint8(0)
		for _, s := range b {
			least, most = min(least, s.rgb[c]), max(most, s.rgb[c])
		}
		if w := int(most) - int(least); w > width {
			channel, width = c, w
		}
	}
	return channel, width
}

// spread is how much is lost by making the box one colour.
func (b box) spread() int {
	_, width := b.widest()
	return width
}

// halves divides the box in the middle of its widest channel.
func (b box) halves() (one, two box) {
	c, _ := b.widest()
	slices.SortStableFunc(b, func(x, y shade) int { return int(x.rgb[c]) - int(y.rgb[c]) })
	half, middle := (int(b[0].rgb[c])+int(b[len(b)-1].rgb[c]))/2, 1
	for middle < len(b)-1 && int(b[middle].rgb[c]) <= half {
		middle++
	}
	return b[:middle], b[middle:]
}

// mean is the colour of the box: that of most of its pixels if there is one, so that
// areas of one colour stay so.
func (b box) mean() color.Color {
	var sum [3]int
	total, most := 0, shade{}
	for _, s := range b {
		for c := range 3 {
			sum[c] += int(s.rgb[c]) * s.count
		}
		total += s.count
		if s.count > most.count {
			most = s
		}
	}
	if 2*most.count > total {
		return color.RGBA{most.rgb[0], most.rgb[1], most.rgb[2], 255}
	}
	return color.RGBA{uint8(sum[0] / total), uint8(sum[1] / total), uint8(sum[2] / total), 255}
}
