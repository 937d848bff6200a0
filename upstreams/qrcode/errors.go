package qrcode

import (
	"errors"
	"fmt"
)

var (
	// ErrTooLong refuses a text beyond the largest symbol. What Encode returns
	// is a *TooLongError, which is this and says the limit.
	ErrTooLong = errors.New("text is too long for a QR code")
	// ErrNotUTF8 refuses what is no text.
	ErrNotUTF8 = errors.New("text is not UTF-8")
	// ErrEmpty refuses an empty text.
	ErrEmpty = errors.New("text is empty")
)

// TooLongError refuses a text beyond the largest symbol of its mode. It never
// holds the text, which may be a password.
type TooLongError struct {
	// Len is the text's length, Max the longest that fits, both in Unit.
	Len, Max int
	// Unit is digits, capitals and digits, bytes, or bytes of UTF-8.
	Unit string
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%v: expected at most %d %s, got %d", ErrTooLong, e.Max, e.Unit, e.Len)
}

// Is makes every TooLongError an ErrTooLong.
func (e *TooLongError) Is(target error) bool { return target == ErrTooLong }

// TooSmallError refuses a size at which a module would be less than a pixel.
type TooSmallError struct {
	// Min is the least size that this symbol can be drawn in, in pixels.
	Min int
}

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("picture too small for this text: expected at least %d pixels", e.Min)
}
