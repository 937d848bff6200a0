package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Tuner holds the settings in force, takes changes and sees that every instance
// applies them. Run it.
type Tuner struct {
	store Store
	log   *slog.Logger
	// check tries settings before they are stored.
	check func(*Settings) error
	// apply puts settings into force on this instance; since is the last order
	// that was carried out here.
	apply func(s *Settings, since int64, now time.Time) error

	mu    sync.Mutex
	now   *Settings
	done  int64 // the last order carried out
	first bool  // nothing was loaded yet
	wake  chan struct{}
}

// NewTuner makes one with empty settings.
func NewTuner(store Store, check func(*Settings) error, apply func(*Settings, int64, time.Time) error, log *slog.Logger) *Tuner {
	return &Tuner{store: store, check: check, apply: apply, log: log, now: &Settings{}, first: true, wake: make(chan struct{}, 1)}
}

// Settings in force. Not to be changed.
func (t *Tuner) Settings() *Settings {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.now
}

// swaps is how often a change is tried anew when another came between.
const swaps = 5

// ErrStore means that the settings could not be kept, and nothing was changed.
var ErrStore = errors.New("the settings cannot be kept at the moment; nothing was changed")

// ErrRefused means that the change is a mistake, and nothing was changed.
var ErrRefused = errors.New("this cannot be set")

// Change makes a change: checked, stored, applied here, and told to the others.
func (t *Tuner) Change(ctx context.Context, c Change) (*Settings, error) {
	for range swaps {
		raw, now, err := t.load(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrStore, err)
		}
		next, err := now.With(c, time.Now())
		if err == nil {
			err = t.check(next)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRefused, err)
		}
		b, err := json.Marshal(next)
		if err != nil {
			return nil, fmt.Errorf("settings: %w", err)
		}
		switch ok, err := t.store.Swap(ctx, raw, b); {
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrStore, err)
		case ok:
			t.log.Info("changed", "do", c.Do, "target", c.Target, "by", c.By, "seq", next.Seq, "undoes", c.Undoes)
			return next, t.take(next)
		}
	}
	return nil, fmt.Errorf("%w: other changes came between", ErrStore)
}

// load reads the stored settings. When they were lost, as in a Redis that was
// flushed, those in force here stand for them.
func (t *Tuner) load(ctx context.Context) ([]byte, *Settings, error) {
	raw, err := t.store.Load(ctx)
	switch {
	case err != nil:
		return nil, nil, err
	case len(raw) == 0:
		return raw, t.Settings(), nil
	}
	s := &Settings{}
	if err := json.Unmarshal(raw, s); err != nil {
		return nil, nil, fmt.Errorf("stored settings: %w", err)
	}
	return raw, s, nil
}

// take applies settings. Orders of before this instance's time are not its own.
func (t *Tuner) take(s *Settings) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.first && s.Seq < t.now.Seq {
		return nil // the word of a change overtook that of a later one
	}
	if t.first {
		t.done, t.first = s.Seq, false
	}
	if err := t.apply(s, t.done, time.Now()); err != nil {
		return err
	}
	t.now, t.done = s, s.Seq
	select {
	case t.wake <- struct{}{}:
	default:
	}
	return nil
}

// Run follows changes made elsewhere, and the ends of those limited in time,
// until ctx ends.
func (t *Tuner) Run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.store.Watch(ctx, func() { t.follow(ctx) }) })
	for {
		timer := time.NewTimer(t.untilNext())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-t.wake:
			timer.Stop()
		case <-timer.C:
			t.again()
		}
	}
}

// follow loads and applies what is stored, and stores anew what was lost.
func (t *Tuner) follow(ctx context.Context) {
	raw, s, err := t.load(ctx)
	if err == nil && len(raw) == 0 && s.Seq > 0 {
		var b []byte
		if b, err = json.Marshal(s); err == nil {
			_, err = t.store.Swap(ctx, nil, b) // when another instance was faster, it is as good
		}
	}
	if err == nil {
		err = t.take(s)
	}
	if err != nil && ctx.Err() == nil {
		t.log.Warn("settings made while it runs could not be taken over", "error", err)
	}
}

// again applies the settings anew, because some have ended.
func (t *Tuner) again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.apply(t.now, t.done, time.Now()); err != nil {
		t.log.Warn("settings that ended could not be taken back", "error", err)
	}
}

// untilNext is how long nothing ends by itself.
func (t *Tuner) untilNext() time.Duration {
	now := time.Now()
	if next := t.Settings().Next(now); !next.IsZero() {
		return next.Sub(now)
	}
	return time.Hour
}
