package live

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/policy"
	"sundry/metrics"
	"sundry/metrics/panics"
	"sundry/upstreams/host"
)

// EffectiveSettings are what applies of the settings at one time: without what has
// expired.
type EffectiveSettings struct {
	// Cache settings, by endpoint.
	Cache map[string]map[string]string
	// Breakers that are held, by host; all others decide by themselves.
	Breakers map[string]host.Force
}

// ReplicatorConfig is what a Replicator works with.
type ReplicatorConfig struct {
	Store Store
	// Check returns an error for cache settings with which the catalog does not
	// compile. It is called before a change of them is stored.
	Check func(cache map[string]map[string]string) error
	// Purge puts purges into force on this instance, by endpoint or for all, and carries
	// out orders, the oldest first, dated by the clock of this instance. It comes before Apply: from then on this instance is
	// in sync, and may read what other instances have cached.
	Purge func(purges map[string]policy.Purge, orders []Order)
	// Unknown is called before Purge where this instance starts and does not know all that was
	// requested to be dropped before a time, by its clock. It may be nil.
	Unknown func(before time.Time)
	// Apply puts the other settings into force on this instance. It applies what it can,
	// and returns an error when something could not be applied; then it is called again.
	Apply func(EffectiveSettings) error
	// Returned is called when this instance is in sync after it was not, such as after
	// an outage of the store. It must not block, and may be nil.
	Returned func()
	// Copy is a file with the settings known here, and those that are pending; "" means that a restart loses what the store lacks.
	Copy string
	// Registerer takes the metrics; nil means none.
	Registerer prometheus.Registerer
	// Panics catches those of Run.
	Panics *panics.Catcher
	Log    *slog.Logger
}

// Replicator holds the settings in force on this instance, makes changes, and
// keeps this instance and the store in sync: what others stored comes into force
// here, and what the store has lost is stored again. Run does that until its context
// ends.
type Replicator struct {
	cfg     ReplicatorConfig
	metrics *replicatorMetrics

	// storeLock is held from a read of the store until what was read is in force,
	// so that an older read never replaces a newer one. It is a channel because
	// waiting for it ends with a context.
	storeLock     chan struct{}
	syncRequested chan struct{}
	expiryChanged chan struct{} // receives a value when expiry, or its time by the clock of this instance, may have changed

	mu           sync.Mutex
	current      *Settings // in force: known with the pending changes
	known        *Settings // all that was stored
	raw          []byte    // what was stored last
	complete     bool      // raw has all that is known
	pending      []pendingChange
	loaded       bool          // the store was read, even if it was empty
	ordersOffset time.Duration // by how much the store's clock was ahead when the known drops were last carried out, about
	missed       time.Time     // drops from before it may have been missed here; zero means that none were
	unknown      time.Time     // drops from before it may not have been known at the start; zero means that all were
	expiry       time.Time     // when something of current expires; zero means that nothing does
	applyErr     error         // what of current could not be applied
	started      time.Time

	copy   copyFile
	damage damage // guarded by storeLock
	// clockOffset is by how many nanoseconds the store's clock is ahead.
	clockOffset atomic.Int64
	// clockKnown means that the store has told its time, since changes last had to wait for it.
	clockKnown atomic.Bool
	// clockRead means that the store has told its time since the start.
	clockRead atomic.Bool

	inSync atomic.Bool
}

// NewReplicator returns a Replicator with empty settings.
func NewReplicator(cfg ReplicatorConfig) *Replicator {
	none := settingsOf(nil, time.Time{})
	r := &Replicator{
		cfg: cfg, current: none, known: none,
		storeLock: make(chan struct{}, 1), syncRequested: make(chan struct{}, 1), expiryChanged: make(chan struct{}, 1),
		started: time.Now(), copy: copyFile{path: cfg.Copy, log: cfg.Log},
	}
	r.metrics = newReplicatorMetrics(cfg.Registerer, r.InSync)
	return r
}

// Settings returns the settings in force. The caller must not modify them.
func (r *Replicator) Settings() *Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// InSync reports whether this instance has applied every purge, as far as can be
// known: it has read the store since it last lost touch with it, the last read
// succeeded, and the purges in it are in force.
func (r *Replicator) InSync() bool { return r.inSync.Load() }

func (r *Replicator) lockStore(ctx context.Context) error {
	select {
	case r.storeLock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Replicator) unlockStore() { <-r.storeLock }

// errUnfinished stands for the result of putting settings into force until there is one; it stays if
// that panics.
var errUnfinished = errors.New("putting the settings into force was broken off")

// purge puts the purges of settings into force, and carries out one-off operations. The caller holds mu.
func (r *Replicator) purge(s *Settings, orders []Order) {
	r.cfg.Purge(r.localPurges(s.purgesSince(r.missed)), r.localOrders(orders))
}

// noteMissed notes that drops from before the floor of stored settings may have been missed. What
// was cached here before it is then purged. An instance that has just started has cached
// nothing: only what it has on its disk, and what it finds in Redis, may be of before. The caller holds mu.
func (r *Replicator) noteMissed(stored *Settings) {
	switch {
	case stored.floor.IsZero(), r.loaded && !stored.mayMiss(r.known):
		return
	case !r.loaded:
		r.unknown = stored.floor
		if at := r.local(stored.floor); at.Before(r.started) {
			if r.cfg.Unknown != nil {
				r.cfg.Unknown(at)
			}
			return
		}
	}
	r.missed = policy.Later(r.missed, stored.floor)
	r.cfg.Log.Warn("some drops were missed and are no longer known; all that was cached before is purged here", "before", r.missed)
}

// DropsKnownSince returns the time from which on this instance has known, at its start, what
// was requested to be dropped; zero means all of it. What it stored before may have been dropped.
func (r *Replicator) DropsKnownSince() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.local(r.unknown)
}

// apply puts the rest of the current settings into force as they are now. The caller
// holds mu.
func (r *Replicator) apply() error {
	now := r.Now()
	r.expiry = r.current.NextExpiry(now)
	r.noteExpiry()
	r.applyErr = r.cfg.Panics.FuncErr(panics.Settings, func() error {
		return r.cfg.Apply(EffectiveSettings{Cache: r.current.ActiveCache(now), Breakers: r.current.HeldBreakers(now)})
	})()
	if r.applyErr == nil {
		r.metrics.sequence.Set(float64(r.known.Seq))
	}
	return r.applyErr
}

// noteExpiry makes revertExpired read the next expiry again.
func (r *Replicator) noteExpiry() {
	select {
	case r.expiryChanged <- struct{}{}:
	default: // it is going to
	}
}

// replicatorMetrics show how far this instance and its store are in sync.
type replicatorMetrics struct {
	sequence   prometheus.Gauge
	inSync     prometheus.GaugeFunc
	lastInSync prometheus.Gauge
	failures   prometheus.Counter
	restores   prometheus.Counter
	repairs    prometheus.Counter
	pending    prometheus.Gauge
}

func newReplicatorMetrics(reg prometheus.Registerer, inSync func() bool) *replicatorMetrics {
	register := promauto.With(reg)
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: metrics.Namespace, Subsystem: "settings", Name: name, Help: help}
	}
	return &replicatorMetrics{
		sequence: register.NewGauge(prometheus.GaugeOpts(opts("sequence", "Number of the last change by an operator that this instance has applied; lower than on other instances while it lags behind."))),
		inSync: register.NewGaugeFunc(prometheus.GaugeOpts(opts("in_sync", "1 while this instance has applied all that operators have changed, as far as it can know; 0 while it is cut off from where that is stored.")), func() float64 {
			if inSync() {
				return 1
			}
			return 0
		}),
		lastInSync: register.NewGauge(prometheus.GaugeOpts(opts("in_step_timestamp_seconds", "When this instance was last in sync with the stored settings, in unix seconds; 0: not since the start."))),
		failures:   register.NewCounter(prometheus.CounterOpts(opts("failures_total", "Reads of the stored settings that failed, or whose result could not be applied or stored."))),
		restores:   register.NewCounter(prometheus.CounterOpts(opts("restores_total", "Times this instance stored the settings again because the store had been emptied or rolled back."))),
		repairs:    register.NewCounter(prometheus.CounterOpts(opts("repairs_total", "Times this instance replaced stored settings that were damaged, and kept those under another name."))),
		pending:    register.NewGauge(prometheus.GaugeOpts(opts("pending", "Changes by operators that are in force on this instance only, until they can be stored."))),
	}
}
