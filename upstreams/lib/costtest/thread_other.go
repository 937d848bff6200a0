//go:build !linux

package costtest

import "time"

var start = time.Now()

// threadTime is the time that passes, as there is no other clock.
func threadTime() time.Duration { return time.Since(start) }

func processTime() time.Duration { return time.Since(start) }
