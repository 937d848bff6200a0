package main

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// unaccepted tells of connections that the system would not hand over, as when
// this process has no descriptor left: callers wait then, and nothing else says
// why. The server tries again by itself.
type unaccepted struct {
	total prometheus.Counter
	log   *slog.Logger
	until atomic.Int64 // unix nanoseconds: what fails before is counted alone
}

// unacceptedLog is the least time between two lines of it.
const unacceptedLog = 10 * time.Second

func newUnaccepted(reg prometheus.Registerer, log *slog.Logger) (*unaccepted, error) {
	u := &unaccepted{log: log, total: prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sundry", Name: "accept_failures_total",
		Help: "Tries to accept a public connection that failed, as for lack of descriptors."})}
	return u, reg.Register(u.total)
}

// note one failure. A nil unaccepted takes none.
func (u *unaccepted) note(err error, now time.Time) {
	if u == nil {
		return
	}
	u.total.Inc()
	until := u.until.Load()
	if now.UnixNano() < until || !u.until.CompareAndSwap(until, now.Add(unacceptedLog).UnixNano()) {
		return
	}
	u.log.Error("connections cannot be accepted", "error", err, "advice", "raise the limit of open files (ulimit -n, LimitNOFILE), or lower limits.in_flight")
}
