package cache

import (
	"math/rand/v2"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/entry"
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

// Observer is told of the requests for the spaces of a cache.
type Observer interface {
	// Requested is told of a request that stands for so many of its space, and returns
	// how many the next one is to stand for: a power of two, 1 for each.
	Requested(space string, key uint64, weight uint32, now time.Time) (next uint32)
}

// Filled is what a fill has found out.
type Filled struct {
	// Space is the name of the space.
	Space string
	// Key is a hash of the key, the same in every process, and Name the key itself, which
	// may be personal.
	Key  uint64
	Name string
	// Source of the answer, and when its load began.
	Source string
	At     time.Time
	// Before is when the load of the answer began that it replaced, and BeforeSource
	// who that was from; zero: there was none to compare with, so nothing is known of a
	// change.
	Before       time.Time
	BeforeSource string
	// Changed means that the content is another one than before.
	Changed bool
	// Digest is that of the content, the same in every process.
	Digest uint64
	// Failed is why nothing came that could be stored; nil: something did. Then there is
	// neither a source nor a digest, and Before is about the copy that stays.
	Failed error
}

// Outcome is that of a fill in one word. Where another source answered than before, nothing
// is known of a change, as with the first answer: sources render differently.
func (f *Filled) Outcome() string {
	switch {
	case f.Failed != nil:
		return "failed"
	case f.Before.IsZero(), f.BeforeSource != f.Source:
		return "first"
	case f.Changed:
		return "changed"
	}
	return "unchanged"
}

// OnFill has a function told of each fill: of each answer that was loaded and stored, but for
// negative ones and those of a last resort, and of each failure to load one. As an Observer it
// is called by many goroutines on the way of requests, and returns soon. OnFill is called
// before the first request.
func (c *Cache) OnFill(told func(Filled)) { c.told = append(c.told, told) }

func (c *Cache) tellOfFill(f Filled) {
	for _, told := range c.told {
		told(f)
	}
}

// observeFill tells of an entry that was stored in the place of old.
func (s *Space) observeFill(key string, e, old *entry.Entry) {
	if len(s.cache.told) == 0 || e.Meta.Replaceable() {
		return
	}
	f := Filled{Space: s.name, Key: xxhash.Sum64String(key), Name: key, Source: e.Meta.Source, At: e.Meta.Created, Digest: e.Digest}
	if old.Raw != nil && !old.Meta.Replaceable() && old.Meta.Created.Before(e.Meta.Created) {
		f.Before, f.BeforeSource, f.Changed = old.Meta.Created, old.Meta.Source, old.Digest != e.Digest
	}
	s.cache.tellOfFill(f)
}

// observeFailure tells of a fill that began at a time and came to nothing, and why.
func (f *fill) observeFailure(began time.Time, err error) {
	if len(f.cache.told) == 0 {
		return
	}
	told := Filled{Space: f.name, Key: xxhash.Sum64String(f.key), Name: f.key, At: began, Failed: err}
	if f.copy != nil {
		told.Before, told.BeforeSource = f.copy.entry.Meta.Created, f.copy.entry.Meta.Source
	}
	f.cache.tellOfFill(told)
}

// observeRequest tells the observer of a sample of the requests. It allocates nothing
// and takes no lock for the others.
func (s *Space) observeRequest(key string) {
	if s.cache.observer == nil {
		return
	}
	weight := s.sampled.Load()
	if weight > 1 && rand.Uint32()&(weight-1) != 0 {
		return
	}
	s.tellOfRequest(key, max(1, weight))
}

func (s *Space) tellOfRequest(key string, weight uint32) {
	if next := s.cache.observer.Requested(s.name, xxhash.Sum64String(key), weight, time.Now()); next != weight {
		s.sampled.Store(next)
	}
}
