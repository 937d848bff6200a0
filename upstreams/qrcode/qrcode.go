// Package qrcode turns a text into a QR code picture of exactly the size that
// was asked for, or says why that cannot be. Texts beyond ASCII carry the mark
// (ECI 26 of ISO/IEC 18004) that tells every reader that they are UTF-8.
package qrcode

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"rsc.io/qr/coding"
)

// quiet is the white margin that the standard asks for, in modules.
const quiet = 4

// utf8ECI is the number of UTF-8 among the character sets of ECI.
const utf8ECI = 26

var (
	// ErrTooLong refuses a text beyond the largest symbol.
	ErrTooLong = errors.New("text is too long for a QR code: want at most 7089 digits, 4296 capitals and digits, or 2953 bytes of UTF-8")
	// ErrNotUTF8 refuses what is no text.
	ErrNotUTF8 = errors.New("text is not UTF-8")
	// ErrEmpty refuses an empty text.
	ErrEmpty = errors.New("text is empty")
)

// TooSmallError refuses a size at which a module would be less than a pixel.
type TooSmallError struct{ Min int }

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("picture too small for this text: want at least %d pixels", e.Min)
}

// Code is an encoded symbol.
type Code struct {
	code    *coding.Code
	version coding.Version
	level   coding.Level
}

// eci says in which character set the bytes that follow are.
type eci byte

// Check implements coding.Encoding.
func (e eci) Check() error { return nil }

// Bits implements coding.Encoding.
func (e eci) Bits(coding.Version) int { return 12 }

// Encode implements coding.Encoding.
func (e eci) Encode(b *coding.Bits, _ coding.Version) {
	b.Write(7, 4)
	b.Write(uint(e), 8)
}

// Encode makes the smallest symbol that holds the text at level M, or at level
// L where it does not fit otherwise. The error is one of the package's.
func Encode(text string) (*Code, error) {
	if text == "" {
		return nil, ErrEmpty
	}
	if !utf8.ValidString(text) {
		return nil, ErrNotUTF8
	}
	segments := segment(text)
	for _, level := range []coding.Level{coding.M, coding.L} {
		for v := coding.Version(coding.MinVersion); v <= coding.MaxVersion; v++ {
			if bits(segments, v) <= 8*v.DataBytes(level) {
				return encode(segments, v, level)
			}
		}
	}
	return nil, ErrTooLong
}

// segment chooses the densest mode that the whole text allows.
func segment(text string) []coding.Encoding {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < utf8.RuneSelf
	}
	switch {
	case coding.Num(text).Check() == nil:
		return []coding.Encoding{coding.Num(text)}
	case coding.Alpha(text).Check() == nil:
		return []coding.Encoding{coding.Alpha(text)}
	case ascii:
		return []coding.Encoding{coding.String(text)}
	}
	return []coding.Encoding{eci(utf8ECI), coding.String(text)}
}

func bits(segments []coding.Encoding, v coding.Version) int {
	n := 0
	for _, s := range segments {
		n += s.Bits(v)
	}
	return n
}

func encode(segments []coding.Encoding, v coding.Version, level coding.Level) (*Code, error) {
	plan, err := coding.NewPlan(v, level, 0)
	if err != nil {
		return nil, fmt.Errorf("plan version %d: %w", v, err)
	}
	c, err := plan.Encode(segments...)
	if err != nil {
		return nil, fmt.Errorf("encode as version %d: %w", v, err)
	}
	return &Code{code: c, version: v, level: level}, nil
}

// Modules is the symbol's width without the margin, 21 to 177.
func (c *Code) Modules() int { return c.code.Size }

// Version of the symbol, 1 to 40.
func (c *Code) Version() int { return int(c.version) }

// Level of error correction: M or L.
func (c *Code) Level() string { return c.level.String() }
