package signing

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

const radix = 36

// TwitterToken is the token that the service behind embedded posts of X asks for, with a
// post's id: (id / 1e15 × π) in base 36, as
// JavaScript writes it, without the zeros and the point.
func TwitterToken(id string) (string, error) {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return "", fmt.Errorf("token: id: expected the digits of a post's number, for example 20, got %.40q", id)
	}
	return strings.NewReplacer("0", "", ".", "").Replace(inBase36(float64(n) / 1e15 * math.Pi)), nil
}

// inBase36 writes a number with as many digits of its fraction as tell it from its
// neighbours, the last one rounded. strconv has no such form of a fraction.
func inBase36(v float64) string {
	whole, fraction := math.Modf(v)
	delta := max(math.Nextafter(v, math.Inf(1))-v, math.SmallestNonzeroFloat64*2) / 2
	var digits []byte
	for fraction >= delta {
		var digit float64
		delta *= radix
		digit, fraction = math.Modf(fraction * radix)
		digits = append(digits, byte(digit))
		if up := fraction > 0.5 || fraction == 0.5 && byte(digit)&1 == 1; up && fraction+delta > 1 {
			digits, whole = roundUp(digits, whole)
			break
		}
	}
	return strconv.FormatUint(uint64(whole), radix) + "." + letters(digits)
}

// roundUp adds one to the last digit, and carries.
func roundUp(digits []byte, whole float64) ([]byte, float64) {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i]++; digits[i] < radix {
			return digits[:i+1], whole
		}
	}
	return nil, whole + 1
}

func letters(digits []byte) string {
	var b strings.Builder
	for _, d := range digits {
		b.WriteString(strconv.FormatUint(uint64(d), radix))
	}
	return b.String()
}
