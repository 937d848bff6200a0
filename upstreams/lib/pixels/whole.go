package pixels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

// Whole is an error for a picture that was cut off. Its media type is that of its first
// bytes; nothing is said of types other than those of Size and SVG. Each format tells
// where its pictures end. What comes after the end does not matter: some services and
// cameras append to their pictures.
func Whole(mediaType string, b []byte) error {
	whole := true
	switch mediaType {
	case "image/png":
		whole = wholePNG(b)
	case "image/jpeg":
		whole = wholeJPEG(b)
	case "image/gif":
		whole = wholeGIF(b)
	case "image/webp":
		whole = wholeWebP(b)
	case "image/bmp":
		whole = wholeBMP(b)
	case "image/x-icon":
		whole = wholeIcon(b)
	case "image/svg+xml":
		whole = wholeSVG(b)
	}
	if !whole {
		return fmt.Errorf("the picture is cut off (%s, %d bytes)", mediaType, len(b))
	}
	return nil
}

// skip is what follows the first n bytes; nil if there are not so many.
func skip(b []byte, n int) []byte {
	if n > len(b) {
		return nil
	}
	return b[n:]
}

// wholePNG reads the chunks up to IEND. Each has twelve bytes beside its data: their
// length, its type and a sum.
func wholePNG(b []byte) bool {
	b = skip(b, 8)
	for drawn := false; len(b) >= 12; {
		size := 12 + int64(binary.BigEndian.Uint32(b))
		if size > int64(len(b)) {
			return false
		}
		switch string(b[4:8]) {
		case "IDAT":
			drawn = true
		case "IEND":
			return drawn
		}
		b = b[size:]
	}
	return false
}

// wholeJPEG reads the segments up to the end of the image. It is not looked for from the
// back, because a preview inside a segment has an end of its own. Between segments, after
// a scan has started, are its data: the next marker ends them.
func wholeJPEG(b []byte) bool {
	for drawn := false; ; {
		at := bytes.IndexByte(b, 0xff)
		if b = skip(b, at+1); at < 0 || len(b) == 0 {
			return false
		}
		switch marker := b[0]; {
		case marker == 0xff: // it may be repeated before a marker
		case marker <= 0x01, marker >= 0xd0 && marker <= 0xd8: // an escape, a restart, the start: nothing belongs to them
			b = b[1:]
		case marker == 0xd9:
			return drawn
		case len(b) < 3:
			return false
		default:
			drawn = drawn || marker == 0xda
			b = skip(b, 1+int(binary.BigEndian.Uint16(b[1:])))
		}
	}
}

// wholeGIF reads the blocks up to the trailer, or to what is no block, which browsers take
// for one.
func wholeGIF(b []byte) bool {
	if len(b) < 13 {
		return false
	}
	b = skip(b, 13+colorTable(b[10]))
	for drawn := false; len(b) > 0; {
		switch b[0] {
		case '!':
			b = afterData(skip(b, 2))
		case ',':
			if len(b) < 10 {
				return false
			}
			drawn = true
			b = afterData(skip(b, 11+colorTable(b[9])))
		default:
			return drawn
		}
	}
	return false
}

// colorTable is the size of the table of colors that the flags of a GIF announce.
func colorTable(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// afterData is what follows the data of a GIF's block: pieces with their length in front,
// of which an empty one is the last.
func afterData(b []byte) []byte {
	for len(b) > 0 {
		size := int(b[0])
		if b = skip(b, 1+size); size == 0 {
			return b
		}
	}
	return nil
}

// wholeWebP believes the length in the header, which leaves out the eight bytes up to
// itself.
func wholeWebP(b []byte) bool {
	const least = 12 // the name of the format, and a chunk's name and length
	if len(b) < 8+least {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(b[4:]))
	return size >= least && 8+size <= int64(len(b))
}

// wholeBMP believes the length in the header.
func wholeBMP(b []byte) bool {
	const least = 26 // both headers, the second in its oldest form
	if len(b) < least {
		return false
	}
	size := int64(binary.LittleEndian.Uint32(b[2:]))
	return size >= least && size <= int64(len(b))
}

// wholeIcon reports whether one of the pictures of an icon file's directory is in the
// file: browsers ignore the others.
func wholeIcon(b []byte) bool {
	return slices.ContainsFunc(iconEntries(b), func(entry []byte) bool { return entryWhole(b, entry) })
}

// iconEntries are those of the directory of an icon file, as far as it is in the file:
// after a header of six bytes, sixteen for each picture.
func iconEntries(b []byte) [][]byte {
	if len(b) < 6 {
		return nil
	}
	count := min(int(binary.LittleEndian.Uint16(b[4:])), (len(b)-6)/16)
	return slices.Collect(slices.Chunk(b[6:6+16*count], 16))
}

// entryWhole reports whether the picture of an entry is in the file, behind the directory.
func entryWhole(b, entry []byte) bool {
	size, from := int64(binary.LittleEndian.Uint32(entry[8:])), int64(binary.LittleEndian.Uint32(entry[12:]))
	directory := 6 + 16*int64(binary.LittleEndian.Uint16(b[4:]))
	return size > 0 && from >= directory && from+size <= int64(len(b))
}
