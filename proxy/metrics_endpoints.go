package proxy

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/upstreams/catalog"
)

// endpointCollector reads at scrape what rule each endpoint is under, as an
// operator may change it at any time, and whether its edition is late. An
// endpoint that a reload removed is gone from it too.
type endpointCollector struct {
	server                  *Server
	ttl, staleIfError, late *prometheus.Desc
}

func newEndpointCollector(s *Server) *endpointCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("sundry_endpoint_"+name, help, []string{"endpoint"}, nil)
	}
	return &endpointCollector{
		server:       s,
		ttl:          desc("ttl_seconds", "How long answers are fresh under the rule in force; 0: not kept, or until the next publication."),
		staleIfError: desc("stale_if_error_seconds", "How long past its freshness an answer may stand in for a refresh that fails."),
		late: desc("edition_late_seconds",
			"How long ago a publication was due that the cached answer does not hold; 0: it holds the newest, or there is none."),
	}
}

// Describe implements prometheus.Collector.
func (c *endpointCollector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.ttl
	ch <- c.staleIfError
	ch <- c.late
}

// Collect implements prometheus.Collector.
func (c *endpointCollector) Collect(ch chan<- prometheus.Metric) {
	now := time.Now()
	for name, rt := range c.server.set.Load().routes {
		policy := rt.space.Policy()
		gauge := func(desc *prometheus.Desc, v time.Duration) {
			ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v.Seconds(), name)
		}
		gauge(c.ttl, policy.TTL)
		gauge(c.staleIfError, max(policy.Grace, policy.StaleIfError))
		gauge(c.late, rt.late(now))
	}
}

// late looks at the answer to a request without parameters, which is the
// newest edition's.
func (rt *route) late(now time.Time) time.Duration {
	if rt.space.Policy().Until == nil {
		return 0
	}
	in, bad := rt.endpoint.Parse("", catalog.Caller{})
	if bad != nil {
		return 0
	}
	return rt.space.EditionLate(in.Key(), now)
}
