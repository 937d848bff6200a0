package ratelimit

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/far"
	"sundry/cache/jitter"
	"sundry/metrics"
)

const (
	// interval is the time between two rounds; it varies by the share of spread, so that
	// the instances of a fleet do not all call at the same instant.
	interval    = time.Second
	spread      = 0.2
	maxInterval = interval + interval/5
	// lag is the time after which what an instance admits is known to the others,
	// unless something is wrong: one waits to tell it, the other to hear it.
	lag = 2*maxInterval + 100*time.Millisecond
	// maxTold bounds the clients that an instance tells of in a round.
	maxTold = 512
	// untoldShare is the part of a burst, as a divisor, that all instances together do
	// not tell of a client.
	untoldShare = 8
	// longestDebt bounds for how long a client is refused because of what others have
	// admitted.
	longestDebt = time.Minute
)

// Fleet is where the instances tell each other what clients have used, such as far.Rates.
type Fleet interface {
	// Exchange adds a report, and returns what all instances have told.
	Exchange(ctx context.Context, told far.Report) (far.Fleet, error)
}

// Sharing lets the limiters of a fleet act nearly as one. Each decides for itself and at
// once. About every second it tells which clients have used much here, hears in the same
// round trip what they have used at all instances together, and debits them by that.
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
// no more clients are worth telling than a report has room for, 512; beyond, the heaviest
// are told.
//
// A client of one instance alone is limited as without Sharing, and one that keeps to its
// limit at all instances together is refused by none.
//
// What cannot be told is dropped: without the others, each limits for itself.
type Sharing struct {
	fleet      Fleet
	log        *slog.Logger
	pseudonyms *pseudonyms
	others     int       // instances in the last round, without this one
	forgotten  time.Time // when what was not worth telling was last forgotten
	told       prometheus.Counter
	debits     prometheus.Counter
	instances  prometheus.Gauge
}

// NewSharing returns a Sharing that Run starts. reg takes the metrics; nil for none.
func NewSharing(fleet Fleet, reg prometheus.Registerer, log *slog.Logger) *Sharing {
	const namespace, subsystem = metrics.Namespace, "rate_limit"
	make := promauto.With(reg)
	s := &Sharing{
		fleet: fleet, log: log, pseudonyms: newPseudonyms(),
		told: make.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "told_clients_total",
			Help: "Clients in reports to the other instances: those that have used much since the last."}),
		debits: make.NewCounter(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "debits_total",
			Help: "Debits of clients by what other instances admitted."}),
		instances: make.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "instances",
			Help: "Instances that share the rate limit, this one included; 1: it is limiting for itself."}),
	}
	s.instances.Set(1)
	return s
}

// Run makes a round at once and then about every second, until ctx ends. current returns
// the limiter in force; nil while there is none to share.
func (s *Sharing) Run(ctx context.Context, current func() *Limiter) {
	for ctx.Err() == nil {
		others := 0
		if l := current(); l != nil {
			others = s.round(ctx, l)
		}
		s.others = others
		s.instances.Set(float64(1 + others))
		_ = jitter.Pause(ctx, interval, spread) // the loop asks ctx
	}
}

// round tells what clients have used here, and debits them by what they have used at all
// instances. It returns how many others there are; 0 where that is not known.
func (s *Sharing) round(ctx context.Context, l *Limiter) (others int) {
	now := time.Now()
	used := s.take(l, now)
	fleet, err := s.fleet.Exchange(ctx, far.Report{Secret: s.pseudonyms.secret, Used: used, Lag: lag, Most: l.mostUsed()})
	if err == nil {
		err = s.adopt(fleet.Secret)
	}
	if err != nil {
		s.log.Debug("rate limits not shared", "error", err)
		return 0
	}
	if s.others == 0 {
		l.forgetUses() // of until now, nobody is told
	}
	s.told.Add(float64(len(used)))
	for _, u := range fleet.Used {
		if who, ok := s.pseudonyms.client(u.Client); ok && l.debit(who, u.Time, now) {
			s.debits.Inc()
		}
	}
	return fleet.Instances - 1
}

// take returns what is to be told. What is not worth it is forgotten after a time in which
// it is restored, and so is what nobody is there to hear.
func (s *Sharing) take(l *Limiter, now time.Time) (used []far.Used) {
	burst, restored := l.Burst()
	if s.others > 0 {
		for _, u := range l.takeUses(worthTelling(burst, s.others+1)) {
			used = append(used, far.Used{Client: s.pseudonyms.of(u.client), Time: l.restored(u.n)})
		}
	}
	if s.others == 0 || now.Sub(s.forgotten) > max(restored, lag) {
		l.forgetUses()
		s.forgotten = now
	}
	return used
}

// worthTelling is from how many requests on a client is worth telling in a fleet of n
// instances.
func worthTelling(burst int64, n int) uint32 {
	return uint32(min(max(1, burst/int64(untoldShare*n)), math.MaxUint32))
}

// adopt names clients by the secret of the fleet from now on.
func (s *Sharing) adopt(secret []byte) error {
	if bytes.Equal(secret, s.pseudonyms.secret) {
		return nil
	}
	common, err := pseudonymsBy(secret)
	if err != nil {
		return fmt.Errorf("the secret of the fleet: %w", err)
	}
	s.pseudonyms = common
	return nil
}
