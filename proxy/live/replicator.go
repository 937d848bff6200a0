package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/metrics"
	"sundry/upstreams/host"
	"sundry/upstreams/words"
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
	// compile. It is called before a change is stored.
	Check func(cache map[string]map[string]string) error
	// Purge puts purges into force on this instance, by endpoint or for all, and carries
	// out orders, the oldest first. It comes before Apply: from then on this instance is
	// in sync, and may read what other instances have cached.
	Purge func(purges map[string]cache.Purge, orders []Order)
	// Apply puts the other settings into force on this instance. It applies what it can,
	// and returns an error when something could not be applied; then it is called again.
	Apply func(EffectiveSettings) error
	// Returned is called when this instance is in sync after it was not, such as after
	// an outage of the store; nil: nobody needs to know. It must not block.
	Returned func()
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	Log        *slog.Logger
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

	mu         sync.Mutex
	current    *Settings // in force: base with the pending changes
	base       *Settings // last known to be stored
	baseRaw    []byte    // base as it is stored
	pending    []pendingChange
	loaded     bool      // the store was read, even if it was empty
	ordersDone int64     // number of the last change whose orders were carried out
	missed     time.Time // orders given before it may have been missed; zero: none were
	expiry     time.Time // when something of current expires; zero: nothing does
	applyErr   error     // what of current could not be applied

	inSync atomic.Bool
}

// NewReplicator returns a Replicator with empty settings.
func NewReplicator(cfg ReplicatorConfig) (*Replicator, error) {
	r := &Replicator{
		cfg: cfg, current: &Settings{}, base: &Settings{},
		storeLock: make(chan struct{}, 1), syncRequested: make(chan struct{}, 1),
	}
	r.metrics = newReplicatorMetrics(r.InSync)
	if cfg.Registerer != nil {
		if err := r.metrics.register(cfg.Registerer); err != nil {
			return nil, fmt.Errorf("settings: metrics: %w", err)
		}
	}
	return r, nil
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
		return ctx.Err()
	}
}

func (r *Replicator) unlockStore() { <-r.storeLock }

// maxSwaps bounds the attempts to store something while others keep storing.
const maxSwaps = 5

// ErrNotStored means that the store refused the change, and nothing was changed.
var ErrNotStored error = words.NewError("the change could not be stored; nothing was changed", "更改未能存储，什么都没有改变")

// ErrUnconfirmed means that the store did not say whether it stored the change.
var ErrUnconfirmed error = words.NewError("the store did not confirm the change; the audit log shows whether it was made", "存储没有确认这项更改，是否生效请看审计日志")

// ErrInvalid means that the change is a mistake, and nothing was changed.
var ErrInvalid error = words.NewError("invalid change", "更改有误")

// errConflict means that another instance stored a change first.
var errConflict error = words.NewError("other changes were stored at the same time", "同时有别的更改存入")

// errStoredMeanwhile means that whatever became of a change, a later one is stored.
var errStoredMeanwhile error = words.NewError("another change was stored since", "此后又有别的更改存入")

// Change makes a change: it is checked, stored, applied here, and announced to
// the other instances. While the store is unreachable it is applied here, and is
// pending.
func (r *Replicator) Change(ctx context.Context, c Change) (*Settings, error) {
	if err := r.lockStore(ctx); err != nil {
		return nil, refuse(ErrNotStored, err)
	}
	defer r.unlockStore()
	for range maxSwaps {
		now := auditTime(time.Now())
		next, ok, err := r.tryChange(ctx, c, now)
		if errors.Is(err, errUnreachable) && ctx.Err() == nil {
			return r.queue(c, now, err)
		}
		if err != nil || ok {
			return next, err
		}
	}
	return nil, refuse(ErrNotStored, errConflict)
}

// tryChange makes a change unless another instance stores one first; then it
// returns false. The change is made on top of what is stored, unless what is in
// force here is newer.
func (r *Replicator) tryChange(ctx context.Context, c Change, now time.Time) (*Settings, bool, error) {
	stored, raw, err := r.load(ctx)
	if err != nil {
		return nil, false, refuse(ErrNotStored, err)
	}
	rel, _, next, err := r.reconcile(stored, now)
	if err == nil {
		next, err = next.With(c, now)
	}
	if err == nil {
		err = r.cfg.Check(next.ActiveCache(now))
	}
	if err != nil {
		return nil, false, refuse(ErrInvalid, err)
	}
	b, err := json.Marshal(next)
	if err != nil {
		return nil, false, fmt.Errorf("settings: %w", err)
	}
	ok, err := r.swap(ctx, raw, b)
	if err != nil || !ok {
		return nil, false, err
	}
	r.reportRestore(rel, stored, next.Seq)
	r.cfg.Log.Info("changed", "do", c.Do, "target", c.Target, "by", c.By, "seq", next.Seq, "undoes", c.Undoes)
	r.requestSync() // so that Run learns of a new expiry
	if err := r.applyStored(next, b); err != nil {
		return nil, false, refuse(words.Errorf("change %d is stored, and could not be applied here yet", "更改 %d 已存储，但尚未能应用到本实例", next.Seq), err)
	}
	return next, true, nil
}

// swap stores a value in the place of the old one, and reports whether the old one
// was still there. When the store's answer is lost, it reads what is stored.
func (r *Replicator) swap(ctx context.Context, old, value []byte) (bool, error) {
	ok, err := r.cfg.Store.Swap(ctx, old, value)
	if err == nil {
		return ok, nil
	}
	have, unread := r.cfg.Store.Load(ctx)
	switch {
	case unread != nil:
		return false, refuse(ErrUnconfirmed, refuse(errUnreachable, err))
	case bytes.Equal(have, value):
		return true, nil
	case bytes.Equal(have, old):
		return false, refuse(ErrNotStored, err)
	}
	return false, refuse(ErrUnconfirmed, refuse(errStoredMeanwhile, err))
}

// load reads the stored settings; nil when there are none.
func (r *Replicator) load(ctx context.Context) (*Settings, []byte, error) {
	raw, err := r.cfg.Store.Load(ctx)
	if errors.Is(err, errStateFile) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read settings: %w", refuse(errUnreachable, err))
	}
	if len(raw) == 0 {
		return nil, raw, nil
	}
	if base, have, _ := r.known(); bytes.Equal(have, raw) {
		return base, raw, nil // unchanged, as it is most of the time
	}
	s := &Settings{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, nil, fmt.Errorf("stored settings: %w", err)
	}
	return s, raw, nil
}

// known returns what was stored when the store was last read, and the changes that
// are pending.
func (r *Replicator) known() (base *Settings, raw []byte, changes []pendingChange) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.base, r.baseRaw, r.pending
}

// reconcile returns how stored settings relate to those known here, the base (one of
// the two, or both merged), and the base with the pending changes.
func (r *Replicator) reconcile(stored *Settings, now time.Time) (rel relation, base, next *Settings, err error) {
	known, _, changes := r.known()
	rel, base = known.reconcile(stored, now)
	if next, err = base.withPending(changes); err == nil && next != base && (rel == same || rel == ahead) {
		rel = lacksPending
	}
	return rel, base, next, err
}

// reportRestore counts and logs that lost settings were stored again.
func (r *Replicator) reportRestore(rel relation, stored *Settings, seq int64) {
	if rel != emptied && rel != rolledBack {
		return
	}
	r.metrics.restores.Inc()
	r.cfg.Log.Warn("the store was rolled back or emptied; the settings in force here are stored again",
		"stored", stored.sequence(), "seq", seq)
}

// applyStored puts settings into force that are stored as raw, and include all
// pending changes.
func (r *Replicator) applyStored(s *Settings, raw []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.pending); n > 0 {
		r.cfg.Log.Info("pending changes are stored", "changes", n, "seq", s.Seq)
	}
	ran := r.pending
	r.pending = nil
	r.metrics.pending.Set(0)
	return r.setBase(s, s, raw, ran)
}

// setBase puts next into force: base, which is stored as raw, with the pending
// changes. The orders of the changes in ran were carried out while these were
// pending. The caller holds mu.
func (r *Replicator) setBase(base, next *Settings, raw []byte, ran []pendingChange) error {
	orders, missed := base.DueOrders(r.ordersDone, !r.loaded)
	if !missed.IsZero() {
		r.cfg.Log.Warn("some orders were missed and are no longer known; all that was cached before is purged here", "before", missed, "last_order", r.ordersDone)
		r.missed = missed
	}
	r.current, r.base, r.baseRaw, r.loaded, r.ordersDone = next, base, raw, true, base.Seq
	r.metrics.sequence.Set(float64(base.Seq))
	r.purge(slices.DeleteFunc(orders, ranWhilePending(ran)))
	r.setInSync(true)
	return r.apply()
}

// purge puts the purges into force that the current settings hold, and carries out
// orders. The caller holds mu.
func (r *Replicator) purge(orders []Order) {
	r.cfg.Purge(withPurgeBefore(r.current.Purges, r.missed), orders)
}

// apply puts the rest of the current settings into force as they are now. The caller
// holds mu.
func (r *Replicator) apply() error {
	now := time.Now()
	r.expiry = r.current.NextExpiry(now)
	r.applyErr = r.cfg.Apply(EffectiveSettings{Cache: r.current.ActiveCache(now), Breakers: r.current.HeldBreakers(now)})
	return r.applyErr
}

// replicatorMetrics show how far this instance and its store are in sync.
type replicatorMetrics struct {
	sequence   prometheus.Gauge
	inSync     prometheus.GaugeFunc
	lastInSync prometheus.Gauge
	failures   prometheus.Counter
	restores   prometheus.Counter
	pending    prometheus.Gauge
}

func newReplicatorMetrics(inSync func() bool) *replicatorMetrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: metrics.Namespace, Subsystem: "settings", Name: name, Help: help}
	}
	return &replicatorMetrics{
		sequence: prometheus.NewGauge(prometheus.GaugeOpts(opts("sequence", "Number of the last change by an operator that this instance has applied; lower than on other instances while it lags behind."))),
		inSync: prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts("in_sync", "1 while this instance has applied all that operators have changed, as far as it can know; 0 while it is cut off from where that is stored.")), func() float64 {
			if inSync() {
				return 1
			}
			return 0
		}),
		lastInSync: prometheus.NewGauge(prometheus.GaugeOpts(opts("in_step_timestamp_seconds", "When this instance was last in sync with the stored settings, in unix seconds; 0: not since the start."))),
		failures:   prometheus.NewCounter(prometheus.CounterOpts(opts("failures_total", "Reads of the stored settings that failed, or whose result could not be applied or stored."))),
		restores:   prometheus.NewCounter(prometheus.CounterOpts(opts("restores_total", "Times this instance stored the settings again because the store had been emptied or rolled back."))),
		pending:    prometheus.NewGauge(prometheus.GaugeOpts(opts("pending", "Changes by operators that are in force on this instance only, until they can be stored."))),
	}
}

func (m *replicatorMetrics) register(reg prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.sequence, m.inSync, m.lastInSync, m.failures, m.restores, m.pending} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
