package idcard

import (
	"errors"
	"strings"
	"unicode"

	"sundry/metrics/words"
)

// ErrMalformed refuses input that does not have the form of an identity number.
// It never contains the input.
var ErrMalformed error = words.Because(errors.New("expected an identity number of 17 digits and a digit or X, or of 15 digits"),
	"is not an identity number", "不是身份证号码")

// Lengths of a number, in characters: since 1999, and before.
const (
	long  = 18
	short = 15
)

// Normalize returns a number as it is printed on the card: ASCII digits and a
// capital X. White space around it, and spaces and hyphens between its
// characters, are dropped; full-width characters are converted. The error is
// ErrMalformed.
func Normalize(card string) (string, error) {
	var b strings.Builder
	gap := '-' // a hyphen is allowed between characters only
	for _, r := range strings.TrimSpace(card) {
		r = toASCII(r)
		if r == ' ' || r == '-' && gap != '-' {
			gap = r
			continue
		}
		if b.Len() == long || r != 'X' && (r < '0' || r > '9') {
			return "", ErrMalformed
		}
		gap = 0
		b.WriteRune(r)
	}
	if number := b.String(); gap == 0 && wellFormed(number) {
		return number, nil
	}
	return "", ErrMalformed
}

// toASCII converts the full-width and typographic forms of a character.
func toASCII(r rune) rune {
	if r >= '！' && r <= '～' { // the full-width forms, in the order of ASCII
		r -= '！' - '!'
	}
	switch {
	case r == 'x':
		return 'X'
	case unicode.Is(unicode.Dash, r):
		return '-'
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// wellFormed checks the length and the position of X. The number must consist of
// digits and X only.
func wellFormed(number string) bool {
	x := strings.IndexByte(number, 'X')
	return len(number) == short && x < 0 || len(number) == long && (x < 0 || x == long-1)
}

// weights of the first 17 digits, powers of two modulo 11: GB 11643-1999.
var weights = [long - 1]int{7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2}

// checkDigit is the last character of a number that begins with these 17
// digits: ISO 7064, MOD 11-2.
func checkDigit(digits string) byte {
	sum := 0
	for i, w := range weights {
		sum += w * int(digits[i]-'0')
	}
	return "10X98765432"[sum%11]
}

// upgraded is the 18-character number that replaced one of 15 digits.
func upgraded(number string) string {
	digits := number[:6] + "19" + number[6:]
	return digits + string(checkDigit(digits))
}

// shown is how many characters a mask shows at either end.
const shown = 4

// mask hides all but the ends of a number.
func mask(number string) string {
	end := len(number) - shown
	return number[:shown] + strings.Repeat("*", end-shown) + number[end:]
}
