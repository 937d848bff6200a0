package advise

import (
	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

// collector shows the latest reports.
type collector struct {
	observer        *Observer
	old, calls, ttl *prometheus.Desc
}

// Collector returns the metrics of the reports that Update has made. Spaces are the label
// endpoint; figures that nobody knows yet are left out.
func (o *Observer) Collector() prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(metrics.Namespace+"_advise_"+name, help, []string{"endpoint", "figure"}, nil)
	}
	return &collector{
		observer: o,
		old:      desc("old_ratio", "Share of answers whose content had changed since it was loaded, under the TTL in force: seen since that took effect, with the band (low, high) that it is in, as it was predicted before, and the target."),
		calls:    desc("calls_per_hour", "Upstream calls an hour under the TTL in force: seen since that took effect, as they were predicted before, and the target."),
		ttl:      desc("ttl_seconds", "The TTL in force, and the one that is advised."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.old, c.calls, c.ttl} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for name, s := range c.observer.all() {
		s.mu.Lock()
		r := s.report
		s.mu.Unlock()
		if r == nil {
			continue
		}
		gauge := func(d *prometheus.Desc, figure string, v float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name, figure)
		}
		gauge(c.ttl, "present", r.Present.Seconds())
		if seen := r.Seen; seen != nil {
			gauge(c.old, "seen", seen.Older)
			gauge(c.old, "low", seen.OlderLow)
			gauge(c.old, "high", seen.OlderHigh)
			gauge(c.calls, "seen", seen.Calls)
		}
		if p := r.Predicted; p != nil {
			gauge(c.old, "predicted", p.Older)
			gauge(c.calls, "predicted", p.Calls)
		}
		if r.TTL > 0 {
			gauge(c.ttl, "advised", r.TTL.Seconds())
		}
		if t := r.Target; t.Old > 0 {
			gauge(c.old, "target", t.Old)
		} else {
			gauge(c.calls, "target", t.Calls)
		}
	}
}
