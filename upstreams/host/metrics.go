package host

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

// breakerCollector reads the state of the breakers at scrape: one changes from open
// to half-open by the clock alone, without a callback.
type breakerCollector struct {
	hosts                 *Hosts
	state, opened, forced *prometheus.Desc
}

// NewCollector makes the collector of the breakers' metrics.
func NewCollector(hosts *Hosts) *breakerCollector {
	return &breakerCollector{
		hosts: hosts,
		state: prometheus.NewDesc(metrics.Namespace+"_upstream_breaker_state",
			"1 for the state that the breaker of an upstream host is in, 0 for the other states.", []string{"host", "state"}, nil),
		opened: prometheus.NewDesc(metrics.Namespace+"_upstream_breaker_openings_total",
			"How often the breaker of an upstream host opened, including failed probes.", []string{"host"}, nil),
		forced: prometheus.NewDesc(metrics.Namespace+"_upstream_breaker_forced",
			"1 while an operator holds the breaker of an upstream host open or closed; none for hosts that decide by themselves.", []string{"host"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *breakerCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.state
	ch <- c.opened
	ch <- c.forced
}

// Collect implements prometheus.Collector.
func (c *breakerCollector) Collect(ch chan<- prometheus.Metric) {
	one := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	for _, h := range c.hosts.All() {
		ch <- prometheus.MustNewConstMetric(c.opened, prometheus.CounterValue, float64(h.Openings()), h.Name)
		if h.Forced() != Unforced { // a hundred zeros say nothing, and no alert waits for them
			ch <- prometheus.MustNewConstMetric(c.forced, prometheus.GaugeValue, 1, h.Name)
		}
		now := h.State()
		for _, state := range []string{"closed", "half-open", "open"} {
			ch <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, one(state == now), h.Name, state)
		}
	}
}

// quotaCollector reads at scrape what is left of the quotas.
type quotaCollector struct {
	quotas *Quotas
	left   *prometheus.Desc
}

// NewQuotaCollector makes the collector of the quotas' metric.
func NewQuotaCollector(quotas *Quotas) prometheus.Collector {
	return &quotaCollector{quotas, prometheus.NewDesc(metrics.Namespace+"_upstream_quota_left_ratio",
		"Share of the calls that a declared rate allows which may still be made, by what this instance knows of the calls of the others.", []string{"quota"}, nil)}
}

// Describe implements prometheus.Collector.
func (c *quotaCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.left }

// Collect implements prometheus.Collector.
func (c *quotaCollector) Collect(ch chan<- prometheus.Metric) {
	for _, q := range c.quotas.All() {
		ch <- prometheus.MustNewConstMetric(c.left, prometheus.GaugeValue, q.Left(time.Now()), q.Name())
	}
}
