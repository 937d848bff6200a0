package proxy

import (
	"slices"
	"sync"
	"time"

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
		history := s.History()
		report := status.Of(&history, time.Now(), subjects(c))
		b.of, b.report, b.until = c, &report, now.Add(b.every)
	}
	return b.report
}

// subjects are the endpoints that the status is about.
func subjects(c *catalog.Catalog) []status.Subject {
	all := make([]status.Subject, len(c.Endpoints))
	for i, e := range c.Endpoints {
		all[i] = status.Subject{Name: e.Name, Blocked: !slices.ContainsFunc(e.Sources(), callable)}
	}
	return all
}

// callable reports whether calls of a source get past the breaker of its host.
func callable(s *upstreams.Source) bool { return s.Host() == nil || s.Host().State() != "open" }
