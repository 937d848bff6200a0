package host

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

// collector reads at scrape the state of the breakers, which change from open to half-open by
// the clock alone, without a callback, and what is left of the quotas.
type collector struct {
	hosts                                 *Hosts
	quotas                                *Quotas
	state, opened, forced, out, quotaLeft *prometheus.Desc
}

// NewCollector makes the collector of the metrics of hosts and quotas.
func NewCollector(hosts *Hosts, quotas *Quotas) prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(metrics.Namespace+"_upstream_"+name, help, labels, nil)
	}
	return &collector{
		hosts: hosts, quotas: quotas,
		state:     desc("breaker_state", "1 for the state that the breaker of an upstream host is in, 0 for the other states.", "host", "state"),
		opened:    desc("breaker_openings_total", "How often the breaker of an upstream host opened, including failed probes.", "host"),
		forced:    desc("breaker_forced", "1 while an operator holds the breaker of an upstream host open or closed; none for hosts that decide by themselves.", "host"),
		out:       desc("checked_out", "1 while the health checks of an address of an API fail, so that others are asked first, 0 while they do not; none for addresses that are not checked.", "endpoint", "host"),
		quotaLeft: desc("quota_left_ratio", "Share of the calls that a declared rate allows which may still be made, by what this instance knows of the calls of the others.", "quota"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.state, c.opened, c.forced, c.out, c.quotaLeft} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
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
	for _, check := range c.hosts.Checks() {
		ch <- prometheus.MustNewConstMetric(c.out, prometheus.GaugeValue, one(check.Out()), check.API, check.Host)
	}
	for _, q := range c.quotas.All() {
		ch <- prometheus.MustNewConstMetric(c.quotaLeft, prometheus.GaugeValue, q.Left(time.Now()), q.Name())
	}
}
