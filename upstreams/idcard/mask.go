package idcard

import "strings"

// shown is how many characters a mask leaves at either end.
const shown = 4

// mask hides all but the ends of a number.
func mask(number string) string {
	end := len(number) - shown
	return number[:shown] + strings.Repeat("*", end-shown) + number[end:]
}
