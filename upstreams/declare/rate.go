package declare

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// RateMax bounds the calls of a rate: their times are remembered.
const RateMax = 10_000

// Rate is so many calls in a length of time, such as 45/1m. The zero value means no
// limit.
type Rate struct {
	Calls int
	Per   time.Duration
}

// UnmarshalYAML reads a scalar that ParseRate accepts.
func (r *Rate) UnmarshalYAML(n *yaml.Node) error {
	v, err := ParseRate(n.Value)
	if err != nil {
		return err
	}
	*r = v
	return nil
}

// Shape implements Shaped.
func (Rate) Shape(func(any) *Shape) *Shape {
	return &Shape{What: "a number of calls, a slash and a duration, such as 45/1m", Pattern: `^[1-9][0-9]*/` + durationPattern + `$`}
}

// ParseRate reads a number of calls, a slash and a duration.
func ParseRate(s string) (Rate, error) {
	calls, per, _ := strings.Cut(s, "/")
	n, err := strconv.Atoi(calls)
	d, badDuration := ParseDuration(per)
	if err != nil || badDuration != nil || n < 1 || n > RateMax || d <= 0 {
		return Rate{}, fmt.Errorf("rate %q: expected 1 to %d calls, a slash and a duration, such as 45/1m or 1000/1d", s, RateMax)
	}
	return Rate{n, d}, nil
}
