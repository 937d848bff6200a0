package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/far"
	"sundry/cache/jitter"
	"sundry/metrics"
)

const (
	// interval is the time between two rounds of gossip; it varies by the share of spread, so
	// that the instances of a fleet do not all call at the same instant.
	interval    = time.Second
	spread      = 0.2
	maxInterval = interval + interval/5
	// lag is the time after which what an instance admits is known to the others,
	// unless something is wrong: one waits to tell it, the other to hear it.
	lag = 2*maxInterval + 100*time.Millisecond
	// maxAge: older reports are of no use. After an outage nobody is refused for
	// what happened before it.
	maxAge = 3 * time.Second
	// silentAfter is how long an instance counts that is no longer heard of.
	silentAfter = 5 * time.Second
	// maxTold bounds the clients in a report, and fleetTold those in the reports of all
	// instances; each tells at least minTold.
	maxTold, minTold, fleetTold = 512, 64, 4096
	// untoldShare is the part of a burst, as a divisor, that all instances together do
	// not tell of a client.
	untoldShare = 8
)

// Fleet is where the instances leave reports for each other, such as far.Gossip.
type Fleet interface {
	// Round posts a report, and returns those that others posted since the last
	// round, the oldest first, and the secret of the fleet: the offered one, if there
	// was none.
	Round(ctx context.Context, offered, report []byte) (secret []byte, reports []far.Report, err error)
}

// Sharing lets the limiters of a fleet act nearly as one. Each decides for itself and at
// once. About every second it reports the clients that have used much here,
// in one round trip, and debits its own clients by what the others report.
//
// Of n instances that hear each other, all together admit of a client, however it
// spreads its requests, in any time T up to a minute no more than
//
//	9/8 · (burst + rate·T) + (n-1) · burst + n · rate·lag
//
// The eighth is what is not worth telling. The lag is the time until what one
// instance admits is known to another: two intervals and a round trip at most (2.5
// s), half of that on average. The excess over 9/8 becomes a debt, so that a client that
// never pauses gets no more than 9/8 of its rate in the long run. That holds as long as
// no more clients are worth telling than a report has room for: 512, less in
// fleets of more than eight, but at least 64; beyond, the heaviest are told.
//
// A client of one instance alone is limited as without Sharing, and one that keeps to its
// limit at all instances together is refused by none.
//
// What cannot be told is dropped: without the others, each limits for itself.
type Sharing struct {
	fleet     Fleet
	log       *slog.Logger
	limiter   *Limiter             // of the last round; nil: none was shared
	heard     map[string]time.Time // when each of the others made its last report
	told      prometheus.Counter
	debits    prometheus.Counter
	instances prometheus.Gauge
}

// NewSharing returns a Sharing that Run starts.
func NewSharing(fleet Fleet, reg prometheus.Registerer, log *slog.Logger) (*Sharing, error) {
	const namespace, subsystem = metrics.Namespace, "rate_limit"
	s := &Sharing{
		fleet: fleet, log: log, heard: map[string]time.Time{},
		told: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "told_clients_total",
			Help: "Clients in reports to the other instances: those that have used much since the last."}),
		debits: prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "debits_total",
			Help: "Debits of clients by what other instances admitted."}),
		instances: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "instances",
			Help: "Instances that share the rate limit, this one included; 1: it is limiting for itself."}),
	}
	s.instances.Set(1)
	if reg == nil {
		return s, nil
	}
	for _, c := range []prometheus.Collector{s.told, s.debits, s.instances} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	return s, nil
}

// Run exchanges reports with the others at once and then about every second, until
// ctx ends. current returns the limiter in force; nil while there is none to share.
func (s *Sharing) Run(ctx context.Context, current func() *Limiter) {
	for ctx.Err() == nil {
		s.round(ctx, current())
		_ = jitter.Pause(ctx, interval, spread) // the loop asks ctx
	}
}

// round makes one round for the limiter, which may be another one than in the
// last.
func (s *Sharing) round(ctx context.Context, l *Limiter) {
	if s.limiter != nil && s.limiter != l {
		s.limiter.tell(0)
	}
	if s.limiter = l; l == nil {
		s.heard = map[string]time.Time{}
		s.instances.Set(1)
		return
	}
	uses, own := l.takeUses(roomFor(len(s.heard)+1), time.Now()), l.secret()
	secret, reports, err := s.fleet.Round(ctx, own.bytes(), newReport(own, uses))
	now := time.Now()
	if common, ok := parseSecret(secret); err == nil && ok {
		s.told.Add(float64(len(uses)))
		l.adopt(common, now)
	} else if reports = nil; err == nil {
		err = fmt.Errorf("the secret of the fleet has %d bytes", len(secret))
	}
	if err != nil {
		s.log.Debug("rate limits not shared", "error", err)
	}
	s.meet(l, reports, now)
	s.debit(l, reports, now)
}

// debit debits the clients in the reports.
func (s *Sharing) debit(l *Limiter, reports []far.Report, now time.Time) {
	common := l.secret()
	for _, r := range reports {
		if r.Age > maxAge {
			continue
		}
		for _, u := range parseReport(r.Body, common) {
			if l.debit(u, now) {
				s.debits.Inc()
			}
		}
	}
}

// meet finds out who is there, and tells the limiter what is worth telling them.
func (s *Sharing) meet(l *Limiter, reports []far.Report, now time.Time) {
	for _, r := range reports {
		s.heard[r.From] = now.Add(-r.Age)
	}
	maps.DeleteFunc(s.heard, func(_ string, at time.Time) bool { return now.Sub(at) > silentAfter })
	n := len(s.heard) + 1
	s.instances.Set(float64(n))
	burst, _ := l.Burst()
	l.tell(worthTelling(burst, n))
}

// worthTelling is from how many requests on a client is worth telling in a fleet of n
// instances; 0 where there is only one.
func worthTelling(burst int64, n int) uint32 {
	if n < 2 {
		return 0
	}
	return uint32(min(max(1, burst/int64(untoldShare*n)), 1<<31))
}

// roomFor is how many clients are told in a report in a fleet of n instances, each of
// which reads the reports of all.
func roomFor(n int) int { return min(maxTold, max(minTold, fleetTold/n)) }
