//go:build linux

package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Others measure what programs that are not the bench's compute meanwhile: they make
// everything dearer.
type Others struct {
	began     time.Time
	busy, own time.Duration
}

// WatchOthers begins to measure. Own programs that have not ended by then, or by the
// time of Share, count as others.
func WatchOthers() *Others {
	return &Others{time.Now(), busyTime(), ownTime()}
}

// Share is what part of one core they have taken since, on average; 0 if the kernel does
// not tell.
func (o *Others) Share() float64 {
	others := (busyTime() - o.busy) - (ownTime() - o.own)
	return max(0, others.Seconds()/time.Since(o.began).Seconds())
}

// busyTime is what all cores have computed since the machine started.
func busyTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return busyOf(string(text))
}

// busyOf sums the first line of /proc/stat, without idle time, waiting for disks, and
// what guests have had, which is in user time as well.
func busyOf(stat string) time.Duration {
	const tick = 10 * time.Millisecond // as Linux tells it on all machines of today
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	var ticks int64
	for i, field := range fields {
		const user, nice, system, irq, softirq, steal = 1, 2, 3, 6, 7, 8
		switch i {
		case user, nice, system, irq, softirq, steal:
			n, _ := strconv.ParseInt(field, 10, 64) // 0 is what is not told
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

// ownTime is what this process and those that it has waited for have computed.
func ownTime() (total time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var used unix.Rusage
		if unix.Getrusage(who, &used) == nil {
			total += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return total
}

// Warning is a sentence for those who read figures that were made while others took more
// than a shell does; "" if they did not.
func (o *Others) Warning() string {
	const negligible = 0.05
	if share := o.Share(); share > negligible {
		return fmt.Sprintf("**Other programs took %.1f cores meanwhile**, so that times are too long.", share)
	}
	return ""
}
