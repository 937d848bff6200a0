package listener

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Reloading returns the state that tells systemd that a reload has begun. READY=1 ends it. By the time, systemd knows which
// request for a reload it belongs to (Type=notify-reload).
func Reloading() string {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return "RELOADING=1"
	}
	return fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/int64(time.Microsecond))
}
