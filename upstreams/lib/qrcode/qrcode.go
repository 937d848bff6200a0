// Package qrcode encodes a text as a QR code picture of exactly the requested size,
// or returns an error that says why that is impossible. Texts beyond ASCII are
// marked as UTF-8 (ECI 26 of ISO/IEC 18004) for all readers.
package qrcode

import (
	"fmt"
	"unicode/utf8"

	"rsc.io/qr/coding"

	"sundry/metrics/words"
)

// Code is an encoded symbol, as Encode makes it. It does not change, so that
// goroutines may share it.
type Code struct {
	code    *coding.Code
	version coding.Version
	level   coding.Level
}

// Encode makes the smallest symbol that holds the text at a level of error
// correction, L, M, Q or H. "" is level M, or L where the text does not fit
// otherwise. The text is one segment, unchanged:
//
//	                                   level H   level Q   level M   level L
//	digits                                3057      3993      5596      7089
//	0-9 A-Z space $ % * + - . / :         1852      2420      3391      4296
//	other ASCII, in bytes                 1273      1663      2331      2953
//	other UTF-8, in bytes                 1272      1662      2330      2952
//
// The error has words for callers. It is ErrLevel for an unknown level.
func Encode(text, level string) (*Code, error) {
	if text == "" {
		return nil, errEmpty
	}
	if !utf8.ValidString(text) {
		return nil, errNotUTF8
	}
	m := modeOf(text)
	levels, ok := levelsOf(level)
	if !ok {
		return nil, ErrLevel
	}
	for _, level := range levels {
		for v := coding.Version(coding.MinVersion); v <= coding.MaxVersion; v++ {
			if m.bits(v) <= 8*v.DataBytes(level) {
				return encode(m, v, level)
			}
		}
	}
	return nil, words.Errorf("text is too long for a QR code: expected at most %d %s, got %d", "文本太长，二维码放不下：最多 %d %s，实际为 %d",
		m.most(levels[len(levels)-1]), m.unit, len(text))
}

// levelsOf are the levels to try, by the name of one.
func levelsOf(name string) ([]coding.Level, bool) {
	if name == "" {
		return []coding.Level{coding.M, coding.L}, true
	}
	for _, level := range []coding.Level{coding.L, coding.M, coding.Q, coding.H} {
		if level.String() == name {
			return []coding.Level{level}, true
		}
	}
	return nil, false
}

// encode fills a symbol. The mask is always 0: the standard requires the best of
// eight, but readers accept any, and trying all would take eight times as long.
func encode(m mode, v coding.Version, level coding.Level) (*Code, error) {
	plan, err := coding.NewPlan(v, level, 0)
	if err != nil {
		return nil, fmt.Errorf("plan version %d: %w", v, err)
	}
	c, err := plan.Encode(m.segments...)
	if err != nil {
		return nil, fmt.Errorf("encode as version %d: %w", v, err)
	}
	return &Code{code: c, version: v, level: level}, nil
}

// Modules is the symbol's width without the margin, 21 to 177.
func (c *Code) Modules() int { return c.code.Size }

// Version of the symbol, 1 to 40.
func (c *Code) Version() int { return int(c.version) }

// Level of error correction: L, M, Q or H.
func (c *Code) Level() string { return c.level.String() }

var (
	errNotUTF8 = words.NewError("text is not UTF-8", "文本不是 UTF-8 编码")
	errEmpty   = words.NewError("text is empty", "文本为空")
	// ErrLevel refuses an unknown level of error correction.
	ErrLevel error = words.NewError("unknown level of error correction; expected L, M, Q or H", "没有这个纠错级别；应为 L、M、Q 或 H")
)

// TooSmallError refuses a size at which a module would be less than two pixels, which
// readers do not resolve.
type TooSmallError struct {
	// Min is the least size that this symbol can be drawn in, in pixels.
	Min int
}

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("picture is too small for this text: expected at least %d pixels", e.Min)
}
