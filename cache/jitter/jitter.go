// Package jitter spreads durations at random, so that keys and instances that
// began to wait together do not act at the same instant.
package jitter

import (
	"context"
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

// Pause waits for d, longer or shorter by up to that share of it (0: for d exactly). When
// ctx ends before, it returns the error of ctx.
func Pause(ctx context.Context, d time.Duration, share float64) error {
	t := time.NewTimer(Around(d, share))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
