package advisor

import (
	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

// collector advises at scrape.
type collector struct {
	advisor   *Advisor
	questions func() []Question

	interval, kind, ttl, calls, hits, old *prometheus.Desc
}

// Collector returns the metrics of the advice on these questions, whose spaces are the
// label endpoint. They are asked for at each scrape; those are left out of whose spaces
// nothing was observed yet.
func (a *Advisor) Collector(questions func() []Question) prometheus.Collector {
	desc := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc(metrics.Namespace+"_advisor_"+name, help, []string{"endpoint", label}, nil)
	}
	return &collector{
		advisor: a, questions: questions,
		interval: desc("change_interval_seconds", "Estimated mean time between changes of the content, with the bounds between which it is with a probability of 95 %; 0: not known.", "bound"),
		kind:     desc("change_kind", "1 for how the content changes, as far as that is known.", "kind"),
		ttl:      desc("ttl_seconds", "TTL of the present and of the recommended rule; the same where there is nothing to gain or too little known.", "rule"),
		calls:    desc("predicted_fills_per_second", "Fills from upstreams that the present and the recommended rule lead to.", "rule"),
		hits:     desc("predicted_hit_ratio", "Share of requests that do not wait for a fill under the present and the recommended rule.", "rule"),
		old:      desc("predicted_old_ratio", "Share of answers older than the content under the present and the recommended rule; 0 also while it is not known.", "rule"),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.interval, c.kind, c.ttl, c.calls, c.hits, c.old} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for _, q := range c.questions() {
		if !c.advisor.observed(q.Space) {
			continue
		}
		advice := c.advisor.Advise(&q)
		gauge := func(d *prometheus.Desc, v float64, label string) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, q.Space, label)
		}
		gauge(c.interval, advice.Change.Interval.Seconds(), "estimate")
		gauge(c.interval, advice.Change.Low.Seconds(), "low")
		gauge(c.interval, advice.Change.High.Seconds(), "high")
		gauge(c.kind, 1, string(advice.Change.Kind))
		for rule, o := range map[string]*Outcome{"present": &advice.Present, "recommended": &advice.Recommended} {
			gauge(c.ttl, o.TTL.Seconds(), rule)
			gauge(c.calls, o.CallsPerHour/3600, rule)
			gauge(c.hits, o.HitRatio, rule)
			gauge(c.old, o.OldShare, rule)
		}
	}
}
