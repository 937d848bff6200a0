package qrcode

import (
	"strings"
	"unicode/utf8"

	"rsc.io/qr/coding"

	"sundry/metrics/words"
)

// utf8ECI is the number of UTF-8 among the character sets of ECI.
const utf8ECI = 26

// mode is a way to write a whole text, with what the largest symbol (version 40)
// holds in it at the levels L, M, Q and H: ISO/IEC 18004, table 7.
type mode struct {
	segments []coding.Encoding
	max      [4]int
	unit     words.Text
}

// most is what the largest symbol holds at a level.
func (m mode) most(l coding.Level) int { return m.max[l-coding.L] }

// modeOf selects the densest mode for the whole text. The ECI of UTF-8
// takes 12 bits, hence one byte fewer than for ASCII.
func modeOf(text string) mode {
	switch {
	case coding.Num(text).Check() == nil:
		return mode{[]coding.Encoding{coding.Num(text)}, [4]int{7089, 5596, 3993, 3057}, words.Say("digits", "位数字")}
	case coding.Alpha(text).Check() == nil:
		return mode{[]coding.Encoding{coding.Alpha(text)}, [4]int{4296, 3391, 2420, 1852}, words.Say("capitals and digits", "个大写字母和数字")}
	case isASCII(text):
		return mode{[]coding.Encoding{coding.String(text)}, [4]int{2953, 2331, 1663, 1273}, words.Say("bytes", "字节")}
	}
	return mode{[]coding.Encoding{eci(utf8ECI), coding.String(text)}, [4]int{2952, 2330, 1662, 1272}, words.Say("bytes of UTF-8", "字节（UTF-8）")}
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// bits is the length of the mode's segments in a symbol of the version.
func (m mode) bits(v coding.Version) int {
	n := 0
	for _, s := range m.segments {
		n += s.Bits(v)
	}
	return n
}

// eci is the character set of the bytes that follow it, by its number; numbers
// below 128 take one byte.
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
