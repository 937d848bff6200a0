package declare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Size is a number of bytes, such as 100MiB. The zero value means that the file does not set it.
type Size int64

// UnmarshalYAML reads a scalar that ParseSize accepts, of at least one byte.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	if v, err := ParseSize(n.Value); err == nil && v >= 1 && v < math.MaxInt64 {
		*s = Size(v)
		return nil
	}
	return fmt.Errorf("size %q: expected a number of bytes, or of KiB, MiB or GiB, such as 100MiB", n.Value)
}

// Shape implements Shaped.
func (Size) Shape(func(any) *Shape) *Shape {
	return &Shape{What: "a number of bytes, or of KiB, MiB or GiB, such as 100MiB", Pattern: `^[0-9]+(\.[0-9]+)? *(KiB|MiB|GiB)?$`}
}

// ParseSize reads a number of bytes, or of KiB, MiB or GiB. The caller must check the bounds; NaN, which it may return, is within none.
func ParseSize(s string) (bytes float64, err error) {
	number, unit := s, 1.0
	for suffix, u := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			number, unit = rest, u
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return v * unit, err
}
