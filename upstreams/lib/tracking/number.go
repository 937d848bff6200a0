package tracking

import (
	"errors"
	"strings"
	"unicode"

	"sundry/metrics/words"
)

// Bounds of a tracking number, and of the input.
const (
	minNumber = 6
	maxNumber = 40
	maxRaw    = 512 // bytes, before separators are dropped
)

var errNumber = words.Because(
	errors.New("expected a tracking number of 6 to 40 letters A-Z and digits, such as YT0000000000001; spaces and hyphens are ignored"),
	"is not a tracking number", "不是快递单号")

// Normalize returns a tracking number as ^[A-Z0-9]{6,40}$: full-width characters
// become ASCII, letters upper case; spaces, hyphens and invisible characters are
// dropped, and so is the piece count (-1-1-) that JD prints after its numbers.
// The error says what is allowed, and does not contain the input.
func Normalize(raw string) (string, error) {
	if len(raw) > maxRaw {
		return "", errNumber
	}
	id := strings.ReplaceAll(withoutPieces(strings.Map(plain, raw)), "-", "")
	if !isNormalized(id) {
		return "", errNumber
	}
	return id, nil
}

// plain maps one character of a pasted number; -1 drops it.
func plain(r rune) rune {
	if r >= '！' && r <= '～' { // full-width forms are in the order of ASCII
		r -= '！' - '!'
	}
	switch {
	case r >= 'a' && r <= 'z': // only ASCII: other letters must not become A-Z
		return r - 'a' + 'A'
	case unicode.IsSpace(r), unicode.Is(unicode.Cf, r):
		return -1
	case unicode.Is(unicode.Pd, r), r == '−':
		return '-'
	}
	return r
}

// withoutPieces removes "-2-3-", the second of three pieces. Other hyphens are not
// mistaken for it, because the rest must have the form of JD's numbers.
func withoutPieces(id string) string {
	parts := strings.Split(strings.TrimSuffix(id, "-"), "-")
	if len(parts) != 3 || !digits(parts[1], 1, 3) || !digits(parts[2], 1, 3) || !jdShape(parts[0]) {
		return id
	}
	return parts[0]
}

func isNormalized(id string) bool { return alnum(id, minNumber, maxNumber) }

// alnum reports whether s consists of shortest to longest letters A-Z and digits.
func alnum(s string, shortest, longest int) bool {
	return len(s) >= shortest && len(s) <= longest && strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) && !isUpper(r) }) < 0
}

// digits reports whether s consists of shortest to longest digits.
func digits(s string, shortest, longest int) bool {
	return len(s) >= shortest && len(s) <= longest && strings.IndexFunc(s, func(r rune) bool { return !isDigit(r) }) < 0
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }
func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }
