package snapshot

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
)

// Outcome is what becomes of a value that is read.
type Outcome uint8

// The outcomes.
const (
	Read    Outcome = iota // it is stored
	Broken                 // damaged, or not a value that the cache could have written
	Unknown                // of an endpoint or an API, or of a version of its file, that is not loaded
	Redis                  // Redis holds such values
	Gone                   // too old by the policy in force, or purged
	Newer                  // there is a newer value since the start
	Full                   // the cache has no room for it
	outcomes
)

// String is the outcome in metrics and in the log.
func (o Outcome) String() string {
	return [...]string{"read", "broken", "unknown", "redis", "gone", "newer", "full"}[min(o, Full)]
}

// resultWritten counts what is written.
const resultWritten = "written"

// fileMetrics are a snapshot's.
type fileMetrics struct {
	values   *prometheus.CounterVec
	failures *prometheus.CounterVec
	bytes    prometheus.Gauge
}

// newMetrics registers all; reg may be nil.
func newMetrics(reg prometheus.Registerer) *fileMetrics {
	register := promauto.With(reg)
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: metrics.Namespace, Subsystem: "cache_snapshot", Name: name, Help: help}
	}
	m := &fileMetrics{
		values: register.NewCounterVec(prometheus.CounterOpts(name("entries_total",
			"Stored responses in the snapshot, by what became of them: written to the file, read from it, or the reason why one in it was not read.")), []string{"result"}),
		failures: register.NewCounterVec(prometheus.CounterOpts(name("failures_total",
			"Writes and reads of the snapshot that failed, or that found it damaged.")), []string{"operation"}),
		bytes: register.NewGauge(prometheus.GaugeOpts(name("bytes", "Size of the snapshot that was last written or read."))),
	}
	m.values.WithLabelValues(resultWritten)
	for o := range outcomes {
		m.values.WithLabelValues(o.String())
	}
	for _, operation := range []string{"write", "read"} {
		m.failures.WithLabelValues(operation)
	}
	return m
}
