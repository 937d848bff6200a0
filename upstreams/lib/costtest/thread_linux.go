package costtest

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadTime is what this thread has taken of a processor: other programs do not count.
func threadTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// processTime is what all threads of this process have taken of processors.
func processTime() time.Duration { return clock(unix.CLOCK_PROCESS_CPUTIME_ID) }

func clock(id int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err) // Linux has these clocks since 2.6.12
	}
	return time.Duration(t.Nano())
}
