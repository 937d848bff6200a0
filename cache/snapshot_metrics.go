package cache

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
)

// skipReason is why an entry of a snapshot is not read.
type skipReason uint8

// The reasons.
const (
	skipNone    skipReason = iota
	skipBroken             // damaged, or not an entry that a fill could have written
	skipUnknown            // of an endpoint, or of a version of its file, that is not loaded
	skipRedis              // Redis holds such entries
	skipGone               // too old by the policy in force, or purged
	skipNewer              // the key has been filled since the start
	skipFull               // the near tier has no room for it
	skipReasons
)

// String is the reason in metrics and in the log.
func (r skipReason) String() string {
	return [...]string{"", "broken", "unknown", "redis", "gone", "newer", "full"}[min(r, skipFull)]
}

// snapshotMetrics are a snapshot's.
type snapshotMetrics struct {
	entries   *prometheus.CounterVec
	failures  *prometheus.CounterVec
	bytes     prometheus.Gauge
	lastWrite prometheus.Gauge
}

// newSnapshotMetrics registers all; reg may be nil.
func newSnapshotMetrics(reg prometheus.Registerer) *snapshotMetrics {
	register := promauto.With(reg)
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: metrics.Namespace, Subsystem: "cache_snapshot", Name: name, Help: help}
	}
	m := &snapshotMetrics{
		entries: register.NewCounterVec(prometheus.CounterOpts(name("entries_total",
			"Entries of the snapshot, by what became of them: written to the file, read from it, or the reason why one in it was not read.")), []string{"result"}),
		failures: register.NewCounterVec(prometheus.CounterOpts(name("failures_total",
			"Writes and reads of the snapshot that failed, or that found it damaged.")), []string{"operation"}),
		bytes:     register.NewGauge(prometheus.GaugeOpts(name("bytes", "Size of the snapshot that was last written or read."))),
		lastWrite: register.NewGauge(prometheus.GaugeOpts(name("last_write_timestamp_seconds", "When the snapshot was last written, by this instance or the one before it."))),
	}
	for _, result := range []string{resultWritten, resultRead} {
		m.entries.WithLabelValues(result)
	}
	for r := skipNone + 1; r < skipReasons; r++ {
		m.entries.WithLabelValues(r.String())
	}
	for _, operation := range []string{"write", "read"} {
		m.failures.WithLabelValues(operation)
	}
	return m
}

// What becomes of an entry that is not skipped.
const (
	resultWritten = "written"
	resultRead    = "read"
)
