package openloop

import (
	"iter"
	"math/rand/v2"
	"time"
)

// Poisson yields when requests are due that come from many callers who do not know
// of each other: so many a second on average, from the beginning to the end of span.
func Poisson(rate float64, span time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for due := time.Duration(0); due < span && yield(due); {
			due += time.Duration(rand.ExpFloat64() / rate * float64(time.Second))
		}
	}
}

// Constant yields when requests are due that come at equal distances.
func Constant(rate float64, span time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for i := 0; ; i++ {
			due := time.Duration(float64(i) / rate * float64(time.Second))
			if due >= span || !yield(due) {
				return
			}
		}
	}
}

// AtOnce yields requests that are all due when a connection is free for them: load
// as closed loops make it, one for each connection.
func AtOnce(span time.Duration) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for begin := time.Now(); ; {
			now := time.Since(begin)
			if now >= span || !yield(now) {
				return
			}
		}
	}
}

// Times yields so many requests that are all due at once.
func Times(n int) iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for range n {
			if !yield(0) {
				return
			}
		}
	}
}
