package costtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is what this thread has taken of a processor: other programs do not count.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // Linux has this clock since 2.6.12
	}
	return time.Duration(t.Nano())
}
