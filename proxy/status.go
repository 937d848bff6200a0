package proxy

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"sundry/cache/jitter"
	"sundry/proxy/site/status"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// statusEvery is how often the status is looked at, however many ask for it.
const statusEvery = 3 * time.Second

// statusBoard holds the report of a moment ago.
type statusBoard struct {
	every time.Duration

	mu     sync.Mutex
	of     *catalog.Catalog
	report *status.Report
	until  time.Time
}

// statusAt returns the status: the report of a moment ago, or a new one.
func (s *Server) statusAt(now time.Time) *status.Report {
	b, c := &s.status, s.Catalog()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of != c || !now.Before(b.until) {
		history, at := s.History(), time.Now()
		report := status.Of(&history, s.keeper.Record(at), at, subjects(c))
		b.of, b.report, b.until = c, &report, now.Add(b.every)
	}
	return b.report
}

// Status is what the public is told, up to a moment ago.
func (s *Server) Status() *status.Report { return s.statusAt(time.Now()) }

// subjects are the endpoints that the status is about.
func subjects(c *catalog.Catalog) []status.Subject {
	all := make([]status.Subject, len(c.Endpoints))
	for i, e := range c.Endpoints {
		all[i] = status.Subject{Name: e.Name, Blocked: !slices.ContainsFunc(e.Sources(), (*upstreams.Source).Callable), Fallback: slices.ContainsFunc(e.Chains, resorts)}
	}
	for _, a := range c.APIs {
		open := !slices.ContainsFunc(a.Targets, func(t catalog.Target) bool { return t.Host.State() != "open" && !t.Check.Out() })
		all = append(all, status.Subject{Name: a.Name, Blocked: open})
	}
	return all
}

// resorts reports whether a chain lives on its last resort.
func resorts(c *catalog.Chain) bool { return c.OnLastResort(status.Recent) }

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

// KeepStatus keeps, until ctx ends, the record of the status up to date.
func (s *Server) KeepStatus(ctx context.Context) {
	for failed := false; ; {
		err := s.keeper.Write(ctx, time.Now())
		if err != nil && !failed && ctx.Err() == nil {
			s.cfg.Log.Warn("the record of the status is not up to date", "error", err)
		}
		failed = err != nil
		if jitter.Pause(ctx, status.WriteEvery, 0.2) != nil {
			return
		}
	}
}

// LeaveStatus writes the record of the status for the last time.
func (s *Server) LeaveStatus(ctx context.Context) {
	s.history.Observe(time.Now())
	if err := s.keeper.Write(ctx, time.Now()); err != nil {
		s.cfg.Log.Warn("the end of the status was not kept", "error", err)
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
	for name, rt := range s.current.Load().apis {
		all[name] = rt.metrics.totals()
	}
	return all
}

// totals reads the counters of an endpoint.
func (e *endpointMetrics) totals() status.Totals {
	var t status.Totals
	for o := range outcomes {
		for class, counter := range e.requests[o] {
			if counter != nil {
				o.seenAs(class).addTo(&t.Counts, read(counter).GetCounter().GetValue())
			}
		}
	}
	t.Durations = perBucket(read(e.duration).GetHistogram())
	return t
}

// seenAs is what the status takes an answer for: one that an API gave and that is an error, for an error.
func (o outcome) seenAs(class int) outcome {
	if class == 5 && o != outcomeShed {
		return outcomeError
	}
	return o
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
