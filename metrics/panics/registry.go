package panics

import "github.com/prometheus/client_golang/prometheus"

// Registerer is reg for collectors that may panic: it collects each in a goroutine of its
// own. What such a collector has not delivered by then is missing from the scrape.
func (c *Catcher) Registerer(reg prometheus.Registerer) prometheus.Registerer {
	return registerer{reg, c}
}

type registerer struct {
	prometheus.Registerer
	panics *Catcher
}

// Register implements prometheus.Registerer.
func (r registerer) Register(c prometheus.Collector) error {
	return r.Registerer.Register(collector{c, r.panics})
}

// MustRegister implements prometheus.Registerer.
func (r registerer) MustRegister(collectors ...prometheus.Collector) {
	for _, c := range collectors {
		r.Registerer.MustRegister(collector{c, r.panics})
	}
}

type collector struct {
	prometheus.Collector
	panics *Catcher
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.panics.Func(Scrape, func() { c.Collector.Collect(ch) })()
}
