// Package jitter spreads durations at random, so that keys and instances that
// began to wait together do not act at the same instant.
package jitter

import (
	"math/rand/v2"
	"time"
)

// Around is d, longer or shorter by up to that share of it.
func Around(d time.Duration, share float64) time.Duration {
	return time.Duration(float64(d) * (1 + share*(2*rand.Float64()-1)))
}

// Below is d, shorter by up to that share of it.
func Below(d time.Duration, share float64) time.Duration {
	return time.Duration(float64(d) * (1 - share*rand.Float64()))
}
