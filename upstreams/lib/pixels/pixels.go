// Package pixels says how wide and high a picture is, and whether it is whole, by its
// structure alone: no pixel is decoded, whatever size the header announces.
package pixels

import (
	"bytes"
	"image"
	_ "image/gif"  // for DecodeConfig
	_ "image/jpeg" // for DecodeConfig
	_ "image/png"  // for DecodeConfig

	_ "golang.org/x/image/bmp"  // for DecodeConfig
	_ "golang.org/x/image/webp" // for DecodeConfig
)

// Size returns the width and height of a PNG, GIF, JPEG, WebP or BMP, or of the
// largest picture in an icon file; 0 for anything else.
func Size(b []byte) (width, height int) {
	if bytes.HasPrefix(b, []byte("\x00\x00\x01\x00")) {
		return icon(b)
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return 0, 0
	}
	return c.Width, c.Height
}

// icon reads the directory of an icon file. The width and height of a picture are in the
// first two bytes of its entry. Pictures that are cut off count only if all are.
func icon(b []byte) (width, height int) {
	anyWhole := wholeIcon(b)
	for _, entry := range iconEntries(b) {
		w, h := side(entry[0]), side(entry[1])
		if w*h > width*height && (!anyWhole || entryWhole(b, entry)) {
			width, height = w, h
		}
	}
	return width, height
}

// side is a width or height in an icon's directory, where 0 means 256.
func side(b byte) int {
	if b == 0 {
		return 256
	}
	return int(b)
}
