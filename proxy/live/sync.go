package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// How often the store is looked at when nothing was heard of it, and how soon
// again after a look that failed: the pauses grow from the one to the other.
const (
	pollEvery  = 3 * time.Second
	retryFirst = 100 * time.Millisecond
)

// Join looks at the store for an instance that is about to serve, so that it
// knows what was purged while it was away. It tries until ctx ends.
func (t *Tuner) Join(ctx context.Context) error {
	for failed := 1; ; failed++ {
		err := t.look(ctx)
		if err == nil {
			return nil
		}
		timer := time.NewTimer(pace(failed))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// Run follows changes made elsewhere, and the ends of those limited in time,
// until ctx ends. Notices are only the fast way: what is lost of them, or of
// the reads after them, is made up for by looking again.
func (t *Tuner) Run(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { t.cfg.Store.Watch(ctx, t.notice) })
	failed, next := 0, time.Now()
	for ctx.Err() == nil {
		if !t.rest(ctx, next) {
			t.end()
			continue
		}
		err := t.look(ctx)
		if ctx.Err() != nil {
			return
		}
		failed = t.report(err, failed)
		next = time.Now().Add(pace(failed))
	}
}

// pace is how long to wait after so many failures in a row, spread so that the
// instances of a fleet stay apart.
func pace(failed int) time.Duration {
	d := pollEvery
	if failed > 0 {
		d = min(retryFirst<<min(failed-1, 10), pollEvery)
	}
	return time.Duration((0.75 + rand.Float64()/2) * float64(d))
}

// report counts failures in a row, and logs the first and the end of them.
func (t *Tuner) report(err error, failed int) int {
	switch {
	case err == nil && failed > 0:
		t.cfg.Log.Info("settings made while it runs are in step again", "seq", t.Settings().Seq, "failures", failed)
	case err != nil && failed == 0:
		t.cfg.Log.Warn("settings made while it runs could not be taken over; it is tried again", "error", err)
	}
	if err == nil {
		return 0
	}
	return failed + 1
}

// notice asks for a look at the store.
func (t *Tuner) notice() {
	select {
	case t.wake <- struct{}{}:
	default: // it is asked for already
	}
}

// rest waits until it is time to look at the store; false when ctx or a setting
// ends first.
func (t *Tuner) rest(ctx context.Context, next time.Time) bool {
	until, ends := next, t.nextEnd()
	if !ends.IsZero() && ends.Before(next) {
		until = ends
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.wake:
		return true
	case <-timer.C:
		return until.Equal(next)
	}
}

func (t *Tuner) nextEnd() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ends
}

// end applies the settings anew when something of them has ended.
func (t *Tuner) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ends.IsZero() || time.Now().Before(t.ends) {
		return
	}
	if err := t.apply(nil); err != nil {
		t.cfg.Log.Warn("settings that ended could not be taken back; it is tried again", "error", err)
	}
}

// look reads what is stored and sees that it is in force here, or that what is
// in force here is stored where the store lost it.
func (t *Tuner) look(ctx context.Context) error {
	if err := t.enter(ctx); err != nil {
		return err
	}
	defer t.leave()
	err := errBetween
	for i := 0; i < swaps && errors.Is(err, errBetween); i++ {
		err = t.follow(ctx)
	}
	if err != nil {
		t.seen.failures.Inc()
		return err
	}
	t.seen.inStep.SetToCurrentTime()
	return nil
}

var errBetween = errors.New("other changes came between")

func (t *Tuner) follow(ctx context.Context) error {
	stored, raw, err := t.load(ctx)
	if err != nil {
		t.inStep.Store(false)
		return err
	}
	defer t.inStep.Store(true) // purges are applied, whatever else failed
	v, base, next, err := t.settle(stored, time.Now())
	if err != nil {
		return err
	}
	switch v {
	case newer:
		return t.take(next, raw)
	case same:
		return t.again(next, raw)
	case behind:
		// Changes made elsewhere count from now on, even if nothing can be written.
		if err := t.rebase(base, next, raw); err != nil {
			t.cfg.Log.Warn("settings could not be applied; it is tried again", "error", err)
		}
	}
	return t.mend(ctx, v, stored, next, raw)
}

// rebase puts what is stored into force, under what waits.
func (t *Tuner) rebase(base, next *Settings, raw []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if bytes.Equal(raw, t.raw) && t.joined {
		return nil
	}
	return t.adopt(base, next, raw, t.pending)
}

// again applies what could not be applied before.
func (t *Tuner) again(s *Settings, raw []byte) error {
	t.mu.Lock()
	joined, failed := t.joined, t.failed
	t.mu.Unlock()
	if !joined || failed != nil {
		return t.take(s, raw)
	}
	return nil
}

// mend stores what is in force here in the place of what the store went back to,
// or of what does not hold changes that wait.
func (t *Tuner) mend(ctx context.Context, v verdict, stored, s *Settings, raw []byte) error {
	b, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("settings: %w", err)
	}
	ok, err := t.keep(ctx, raw, b)
	switch {
	case err != nil && v == behind:
		return fmt.Errorf("%d changes that wait cannot be stored: %w", t.Waiting(), err)
	case err != nil:
		return fmt.Errorf("the store went back from change %d to %d, and cannot be mended: %w", t.Settings().Seq, stored.sequence(), err)
	case !ok:
		return errBetween
	}
	t.mended(v, stored, s.Seq)
	return t.take(s, b)
}
