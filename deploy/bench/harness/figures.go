//go:build linux

package harness

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Median of figures; 0 if there are none.
func Median(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ReplaceFigures puts figures into a document, between two lines that must be there.
func ReplaceFigures(file, beginMark, figures, endMark string) error {
	text, err := os.ReadFile(file) //nolint:gosec // a document of this repository
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), beginMark)
	_, after, ends := strings.Cut(rest, endMark)
	if !ok || !ends {
		return fmt.Errorf("%s: no place for figures: expected lines %q and %q", file, beginMark, endMark)
	}
	return os.WriteFile(file, []byte(before+beginMark+figures+endMark+after), 0o644) //nolint:gosec // anybody may read it
}
