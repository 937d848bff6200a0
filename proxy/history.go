package proxy

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sundry/proxy/site/status"
)

// KeepHistory remembers, until ctx ends, how requests have ended.
func (s *Server) KeepHistory(ctx context.Context) {
	tick := time.NewTicker(status.ObserveEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			s.history.Observe(now)
		}
	}
}

// History is what is remembered of how requests have ended, up to now.
func (s *Server) History() status.View {
	now := time.Now()
	s.history.Observe(now)
	return s.history.View(now)
}

// totals reads what is counted of each endpoint.
func (s *Server) totals() map[string]status.Totals {
	routes := s.current.Load().routes
	all := make(map[string]status.Totals, len(routes))
	for name, rt := range routes {
		all[name] = rt.metrics.totals()
	}
	return all
}

// totals reads the counters of an endpoint.
func (e *endpointMetrics) totals() status.Totals {
	var t status.Totals
	for o := range outcomes {
		for _, c := range o.classes() {
			o.addTo(&t.Counts, read(e.requests[o][c]).GetCounter().GetValue())
		}
	}
	t.Durations = perBucket(read(e.duration).GetHistogram())
	return t
}

// read returns the value of a metric.
func read(m prometheus.Metric) *dto.Metric {
	var v dto.Metric
	_ = m.Write(&v) // those of client_golang itself return no error
	return &v
}

// perBucket is how many observations each bucket holds, and last how many are above all
// bounds. Those have a bucket of their own only when one of them has an exemplar.
func perBucket(h *dto.Histogram) []uint64 {
	counts, below := make([]uint64, 0, len(h.GetBucket())+1), uint64(0)
	for _, b := range h.GetBucket() {
		if math.IsInf(b.GetUpperBound(), 1) {
			break
		}
		counts = append(counts, b.GetCumulativeCount()-below)
		below = b.GetCumulativeCount()
	}
	return append(counts, h.GetSampleCount()-below)
}

// addTo counts requests with this outcome.
func (o outcome) addTo(c *status.Counts, value float64) {
	n := uint64(value)
	c.Requests += n
	switch o {
	case outcomeHit, outcomeStale, outcomeStaleError, outcomeNotModified:
		c.Cached += n
	case outcomeMiss, outcomeCoalesced:
		c.Fetched += n
	}
	switch o {
	case outcomeHit, outcomeStale, outcomeMiss, outcomeCoalesced, outcomeNegative, outcomeBypass, outcomeNotModified:
		c.Works += n
	case outcomeStaleError:
		c.Stale += n
	case outcomeError, outcomeShed:
		c.Failing += n
	}
}
