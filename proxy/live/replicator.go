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
	"sundry/upstreams/host"
)

// Effect is what settings come to on one instance at one time.
type Effect struct {
	// Knobs of cache rules, by endpoint.
	Knobs map[string]map[string]string
	// Held breakers, by host.
	Held map[string]host.Force
	// Purges by endpoint, or for all.
	Purges map[string]cache.Purge
	// Orders to carry out now, the oldest first.
	Orders []Order
}

// TunerConfig is what a Tuner works with.
type TunerConfig struct {
	Store Store
	// Check tries the knobs of a change before it is stored.
	Check func(knobs map[string]map[string]string) error
	// Apply puts settings into force on this instance. What can be applied is,
	// orders in any case, though the error tells that something could not.
	Apply func(Effect) error
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	Log        *slog.Logger
}

// Tuner holds the settings in force, takes changes and sees that every instance
// applies them. Run it.
type Tuner struct {
	cfg  TunerConfig
	seen *tunerMetrics

	// turn is held by whoever reads the store and takes what is there, so that
	// what was read is not behind what was taken meanwhile.
	turn chan struct{}
	wake chan struct{} // look at the store at once

	mu      sync.Mutex
	now     *Settings // in force: base, and what is pending
	base    *Settings // the last that was known to be stored
	raw     []byte    // base, as it is stored
	pending []pending
	joined  bool      // something was loaded, be it nothing
	done    int64     // the last order carried out
	missed  time.Time // until when orders may have been missed; zero: none were
	ends    time.Time // when something of now ends by itself; zero: nothing does
	failed  error     // what of now could not be applied

	inStep atomic.Bool
}

// NewTuner makes one with empty settings.
func NewTuner(cfg TunerConfig) (*Tuner, error) {
	t := &Tuner{
		cfg: cfg, seen: newTunerMetrics(), now: &Settings{}, base: &Settings{},
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	if cfg.Registerer != nil {
		if err := t.seen.register(cfg.Registerer); err != nil {
			return nil, fmt.Errorf("settings: metrics: %w", err)
		}
	}
	return t, nil
}

// Settings in force. Not to be changed.
func (t *Tuner) Settings() *Settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// InStep tells whether the last look at the store worked: as far as one can
// know, this instance has heard of every purge.
func (t *Tuner) InStep() bool { return t.inStep.Load() }

// enter waits for the turn; ctx may end that.
func (t *Tuner) enter(ctx context.Context) error {
	select {
	case t.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Tuner) leave() { <-t.turn }

// swaps is how often something is stored anew when a change came between.
const swaps = 5

// ErrStore means that the settings could not be kept, and nothing was changed.
var ErrStore = errors.New("the settings cannot be kept at the moment; nothing was changed")

// ErrUnknown means that the store fell silent while the change was kept.
var ErrUnknown = errors.New("the store did not say whether the change was kept; the audit log will tell")

// ErrRefused means that the change is a mistake, and nothing was changed.
var ErrRefused = errors.New("this cannot be set")

// Change makes a change: checked, stored, applied here, and told to the others.
// While the store cannot be reached it is applied here, and is pending.
func (t *Tuner) Change(ctx context.Context, c Change) (*Settings, error) {
	if err := t.enter(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStore, err)
	}
	defer t.leave()
	for range swaps {
		now := moment(time.Now())
		next, ok, err := t.attempt(ctx, c, now)
		if errors.Is(err, errNoStore) && ctx.Err() == nil {
			return t.pend(c, now, err)
		}
		if err != nil || ok {
			return next, err
		}
	}
	return nil, fmt.Errorf("%w: other changes came between", ErrStore)
}

// attempt makes a change unless another comes between. It builds on what is
// stored, unless what is in force here is newer.
func (t *Tuner) attempt(ctx context.Context, c Change, now time.Time) (*Settings, bool, error) {
	stored, raw, err := t.load(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrStore, err)
	}
	v, _, next, err := t.settle(stored, now)
	if err == nil {
		next, err = next.With(c, now)
	}
	if err == nil {
		err = t.cfg.Check(next.Live(now))
	}
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	b, err := json.Marshal(next)
	if err != nil {
		return nil, false, fmt.Errorf("settings: %w", err)
	}
	ok, err := t.keep(ctx, raw, b)
	if err != nil || !ok {
		return nil, false, err
	}
	t.mended(v, stored, next.Seq)
	t.cfg.Log.Info("changed", "do", c.Do, "target", c.Target, "by", c.By, "seq", next.Seq, "undoes", c.Undoes)
	t.notice() // for what ends sooner than anything before
	if err := t.take(next, b); err != nil {
		return nil, false, fmt.Errorf("change %d is kept, and could not be applied here yet: %w", next.Seq, err)
	}
	return next, true, nil
}

// keep swaps a document in. When the answer is lost it looks what became of it.
func (t *Tuner) keep(ctx context.Context, old, value []byte) (bool, error) {
	ok, err := t.cfg.Store.Swap(ctx, old, value)
	if err == nil {
		return ok, nil
	}
	have, lost := t.cfg.Store.Load(ctx)
	switch {
	case lost != nil:
		return false, fmt.Errorf("%w: %w: %w", ErrUnknown, errNoStore, err)
	case bytes.Equal(have, value):
		return true, nil
	case bytes.Equal(have, old):
		return false, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return false, fmt.Errorf("%w: %w, and other changes came between", ErrUnknown, err)
}

// load reads the stored settings; nil when there are none.
func (t *Tuner) load(ctx context.Context) (*Settings, []byte, error) {
	raw, err := t.cfg.Store.Load(ctx)
	if errors.Is(err, errFile) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read settings: %w: %w", errNoStore, err)
	}
	if len(raw) == 0 {
		return nil, raw, nil
	}
	if base, have, _ := t.known(); bytes.Equal(have, raw) {
		return base, raw, nil // as it mostly is
	}
	s := &Settings{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, nil, fmt.Errorf("stored settings: %w", err)
	}
	return s, raw, nil
}

// known is what was stored when it was last read, and what waits for it.
func (t *Tuner) known() (base *Settings, raw []byte, waiting []pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.base, t.raw, t.pending
}

// settle says how stored settings stand to those known here, which of them hold,
// and what that comes to with the changes that wait.
func (t *Tuner) settle(stored *Settings, now time.Time) (v verdict, base, next *Settings, err error) {
	known, _, waiting := t.known()
	v, base = known.settle(stored, now)
	if next, err = base.replay(waiting); err == nil && next != base && (v == same || v == newer) {
		v = behind
	}
	return v, base, next, err
}

// mended tells that a store was given again what it had lost.
func (t *Tuner) mended(v verdict, stored *Settings, seq int64) {
	if v != lost && v != older {
		return
	}
	t.seen.restores.Inc()
	t.cfg.Log.Warn("settings in force here were stored anew, over what the store had gone back to",
		"stored", stored.sequence(), "seq", seq)
}

// take puts settings into force that are stored as raw, with all that waited.
func (t *Tuner) take(s *Settings, raw []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.pending); n > 0 {
		t.cfg.Log.Info("changes that waited for the store are kept", "changes", n, "seq", s.Seq)
	}
	waited := t.pending
	t.pending = nil
	t.seen.pending.Set(0)
	return t.adopt(s, s, raw, waited)
}

// adopt puts settings into force that were made of those stored as raw and of
// what waits, which was carried out here. The caller holds mu.
func (t *Tuner) adopt(s, next *Settings, raw []byte, waited []pending) error {
	orders, missed := s.Due(t.done, !t.joined)
	if !missed.IsZero() {
		t.cfg.Log.Warn("more orders were missed than are remembered; what is cached from before is purged", "before", missed, "last_order", t.done)
		t.missed = missed
	}
	t.now, t.base, t.raw, t.joined, t.done = next, s, raw, true, s.Seq
	t.seen.sequence.Set(float64(s.Seq))
	return t.apply(slices.DeleteFunc(orders, carriedOut(waited)))
}

// apply puts the settings into force as they are now. The caller holds mu.
func (t *Tuner) apply(orders []Order) error {
	now := time.Now()
	t.ends = t.now.Next(now)
	t.failed = t.cfg.Apply(Effect{
		Knobs: t.now.Live(now), Held: t.now.Held(now), Purges: withHard(t.now.Purges, t.missed), Orders: orders,
	})
	return t.failed
}

// tunerMetrics tell how far this instance is with the settings of its fleet.
type tunerMetrics struct {
	sequence prometheus.Gauge
	inStep   prometheus.Gauge
	failures prometheus.Counter
	restores prometheus.Counter
	pending  prometheus.Gauge
}

func newTunerMetrics() *tunerMetrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "sundry", Subsystem: "settings", Name: name, Help: help}
	}
	return &tunerMetrics{
		sequence: prometheus.NewGauge(prometheus.GaugeOpts(opts("sequence", "Number of the last change by an operator that this instance took over; lower than another's while it lags behind."))),
		inStep:   prometheus.NewGauge(prometheus.GaugeOpts(opts("in_step_timestamp_seconds", "When this instance last saw that what is stored is in force here, in unix seconds; 0: not since the start."))),
		failures: prometheus.NewCounter(prometheus.CounterOpts(opts("failures_total", "Looks at the stored settings that failed, or whose outcome could not be applied."))),
		restores: prometheus.NewCounter(prometheus.CounterOpts(opts("restores_total", "Times this instance stored the settings anew because the store had lost them or gone back in time."))),
		pending:  prometheus.NewGauge(prometheus.GaugeOpts(opts("pending", "Changes by operators that are in force on this instance alone, and wait for the store to be shared."))),
	}
}

func (m *tunerMetrics) register(reg prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.sequence, m.inStep, m.failures, m.restores, m.pending} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
