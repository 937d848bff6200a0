package openloop

import (
	"slices"
	"time"
)

// Quantile is the latency that a share q of all did not exceed; 0 of none. It sorts.
func Quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))]
}
