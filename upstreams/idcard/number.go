package idcard

import (
	"errors"
	"strings"
	"unicode"
)

// ErrMalformed refuses what has not the form of an identity number. It never
// repeats what was given.
var ErrMalformed = errors.New("expected an identity number of 17 digits and a digit or X, or of 15 digits")

// Lengths of a number, in characters: since 1999, and before.
const (
	long  = 18
	short = 15
)

// Normalize writes a number as the card does: ASCII digits and a capital X.
// Space around it, and spaces and hyphens between its characters, are dropped;
// full-width characters become narrow. The error is ErrMalformed.
func Normalize(card string) (string, error) {
	var b strings.Builder
	gap := '-' // a hyphen stands between characters only
	for _, r := range strings.TrimSpace(card) {
		r = narrow(r)
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

// narrow gives the ASCII character that is meant by one of East Asian texts.
func narrow(r rune) rune {
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

// wellFormed wants digits and X only, and checks the length and where X is.
func wellFormed(number string) bool {
	x := strings.IndexByte(number, 'X')
	return len(number) == short && x < 0 || len(number) == long && (x < 0 || x == long-1)
}
