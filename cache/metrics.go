package cache

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/near"
	"sundry/metrics"
)

// cacheMetrics are the cache's.
type cacheMetrics struct {
	lookups   *prometheus.CounterVec
	refreshes *prometheus.CounterVec
	age       *prometheus.HistogramVec
	staleAge  *prometheus.HistogramVec
	coalesced *prometheus.CounterVec
	stale     *prometheus.CounterVec
	paused    *prometheus.CounterVec

	leaseWaits    *prometheus.CounterVec
	confirmations *prometheus.CounterVec
}

// spaceMetrics are an endpoint's, resolved once.
type spaceMetrics struct {
	nearHit, nearStale, nearMiss           prometheus.Counter
	farHit, farStale, farMiss, farBroken   prometheus.Counter
	refreshNew, refreshSame, refreshFailed prometheus.Counter
	firstFill                              prometheus.Counter // in memory, there was none before
	coalesced, stale, paused               prometheus.Counter
	age, staleAge                          prometheus.Observer
}

// newMetrics registers all; reg may be nil.
func newMetrics(reg prometheus.Registerer, near *near.Memory, g *flights) *cacheMetrics {
	register := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "cache", Name: name, Help: help}, labels)
	}
	m := &cacheMetrics{
		lookups:   counter("lookups_total", "Lookups in a cache tier, by result.", "endpoint", "tier", "result"),
		refreshes: counter("refreshes_total", "Fills from upstreams, by result: the content had changed, was unchanged, was the first of its key in memory, or could not be fetched.", "endpoint", "result"),
		coalesced: counter("coalesced_total", "Requests that waited for another request's fill.", "endpoint"),
		stale:     counter("stale_answers_total", "Stale answers served because a refresh failed or was slow.", "endpoint"),
		paused:    counter("paused_total", "Requests refused without a try because the key is paused after a failed fill.", "endpoint"),
		age: register.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: metrics.Namespace, Subsystem: "cache", Name: "age_at_serve_seconds",
			Help:    "Age of cached answers when they are served.",
			Buckets: []float64{1, 10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400, 30 * 86400},
		}, []string{"endpoint"}),
		staleAge: register.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: metrics.Namespace, Subsystem: "cache", Name: "stale_age_seconds",
			Help:    "Time past freshness of stale answers that were served as fallback for a failed or slow refresh.",
			Buckets: []float64{60, 300, 900, 3600, 3 * 3600, 6 * 3600, 86400, 3 * 86400, 7 * 86400, 30 * 86400},
		}, []string{"endpoint"}),
		leaseWaits: counter("lease_waits_total", "Fills that waited for another instance's fill of the same key, by how that ended.", "result"),
	}
	m.confirmations = counter("confirmations_total", "Copies in memory that were looked up in Redis behind a response, by result: newest; newer: Redis has a newer entry; missing: it was written again; unknown: Redis did not answer, or its entry is broken.", "result")
	for _, result := range []string{"filled", "failed", "taken_over", "timeout"} {
		m.leaseWaits.WithLabelValues(result)
	}
	for _, result := range []string{"newest", "newer", "missing", "unknown"} {
		m.confirmations.WithLabelValues(result)
	}
	gauge := func(name, help string, value func() float64) {
		register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: metrics.Namespace, Subsystem: "cache", Name: name, Help: help}, value)
	}
	gauge("fills_running", "Fills that are running.", func() float64 { return float64(g.running()) })
	gauge("fills_limit", "Limit of concurrent fills; one endpoint may use half of it.", func() float64 { return float64(g.count.Total()) })
	if reg != nil {
		reg.MustRegister(near.Collector())
	}
	return m
}

// confirmed counts a confirmation.
func (m *cacheMetrics) confirmed(result string) { m.confirmations.WithLabelValues(result).Inc() }

// leaseWait counts a wait for another instance's fill, which has brought an entry, or
// a failure, or neither.
func (m *cacheMetrics) leaseWait(otherwise string, filled, failed bool) {
	switch {
	case filled:
		otherwise = "filled"
	case failed:
		otherwise = "failed"
	}
	m.leaseWaits.WithLabelValues(otherwise).Inc()
}

// space resolves an endpoint's series, so that they exist at zero.
func (m *cacheMetrics) space(name string) spaceMetrics {
	look := func(tier Tier, result string) prometheus.Counter {
		return m.lookups.WithLabelValues(name, tier.String(), result)
	}
	return spaceMetrics{
		nearHit: look(Near, "hit"), nearStale: look(Near, "stale"), nearMiss: look(Near, "miss"),
		farHit: look(Far, "hit"), farStale: look(Far, "stale"), farMiss: look(Far, "miss"), farBroken: look(Far, "broken"),
		refreshNew:    m.refreshes.WithLabelValues(name, "changed"),
		refreshSame:   m.refreshes.WithLabelValues(name, "unchanged"),
		firstFill:     m.refreshes.WithLabelValues(name, "first"),
		refreshFailed: m.refreshes.WithLabelValues(name, "failed"),
		coalesced:     m.coalesced.WithLabelValues(name),
		stale:         m.stale.WithLabelValues(name),
		paused:        m.paused.WithLabelValues(name),
		age:           m.age.WithLabelValues(name),
		staleAge:      m.staleAge.WithLabelValues(name),
	}
}
