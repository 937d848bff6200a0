package cache

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"sundry/cache/jitter"
	"sundry/cache/policy"
)

// maxFailures bounds the number of keys whose failed fills are remembered.
const maxFailures = 20_000

// failures remembers which keys failed lately, so that not every request asks a
// failing upstream again. The zero value is not usable; see newFailures.
type failures struct {
	mu  sync.Mutex
	lru *lru.LRU[string, failure]
}

// failure is the last failed fill of a key, which pauses the key.
type failure struct {
	err    error
	until  time.Time
	streak int
	// hadCopy: a usable copy existed, so that negative answers and last resorts
	// were not taken. Such a failure does not pause the key once there is none.
	hadCopy bool
}

// PausedError is returned for a key whose last fills failed, until the next try
// is due.
type PausedError struct {
	Err   error         // of the last try
	Retry time.Duration // until the next one
}

func (e *PausedError) Error() string { return e.Err.Error() }

// Unwrap gives the failure that began the pause.
func (e *PausedError) Unwrap() error { return e.Err }

func newFailures() *failures {
	l, err := lru.NewLRU[string, failure](maxFailures, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &failures{lru: l}
}

// paused returns the failure that pauses the key at now, and for how long; or
// nil.
func (f *failures) paused(key string, hasCopy bool, now time.Time) (wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.lru.Peek(key); ok && now.Before(r.until) && (hasCopy || !r.hadCopy) {
		return r.until.Sub(now), r.err
	}
	return 0, nil
}

// add records a failure and pauses the key: twice as long after each consecutive
// one, up to the policy's maximum, less up to a fifth so that instances do not
// retry at the same time.
func (f *failures) add(key string, err error, hadCopy bool, p *policy.Policy, now time.Time) failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, _ := f.lru.Peek(key)
	pause := jitter.Below(p.PauseAfter(r.streak), 0.2)
	r = failure{err: err, until: now.Add(pause), streak: r.streak + 1, hadCopy: hadCopy}
	f.lru.Add(key, r)
	return r
}

// adopt takes over another instance's failure, unless this instance's own pauses
// the key for longer.
func (f *failures) adopt(key string, r failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own, ok := f.lru.Peek(key); !ok || r.until.After(own.until) {
		r.streak = max(r.streak, own.streak)
		f.lru.Add(key, r)
	}
}

// clear forgets a key that was filled.
func (f *failures) clear(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lru.Remove(key)
}

// Bounds of a failure record.
const (
	maxRecord      = 1 << 10
	maxFailureText = 256
	maxStreak      = 1000
)

// failureRecord is how an instance shares a failed fill with the others, in Redis.
type failureRecord struct {
	Text    string `json:"text"`
	Until   int64  `json:"until"` // unix milliseconds
	Streak  int    `json:"times"` // consecutive failures
	HadCopy bool   `json:"covered,omitempty"`
}

// record is nil for a failure that is not to be shared.
func (c *Cache) record(r failure) []byte {
	text := c.describe(r.err)
	if text == "" {
		return nil
	}
	text = strings.ToValidUTF8(text[:min(len(text), maxFailureText)], "")
	record, err := json.Marshal(failureRecord{text, r.until.UnixMilli(), min(r.streak, maxStreak), r.hadCopy})
	if err != nil {
		return nil
	}
	return record
}

// readRecord reads a record; false unless it is plausible and still in force. No
// instance can pause a key here for longer than this instance's policy would after as
// many failures: its clock may be ahead.
func (c *Cache) readRecord(record []byte, p *policy.Policy, now time.Time) (failure, bool) {
	var r failureRecord
	if len(record) == 0 || len(record) > maxRecord || json.Unmarshal(record, &r) != nil {
		return failure{}, false
	}
	until := time.UnixMilli(r.Until)
	if r.Text == "" || len(r.Text) > maxFailureText || r.Streak < 1 || r.Streak > maxStreak || !until.After(now) {
		return failure{}, false
	}
	if longest := now.Add(p.PauseAfter(r.Streak - 1)); until.After(longest) {
		until = longest
	}
	err := c.restore(r.Text)
	return failure{err, until, r.Streak, r.HadCopy}, err != nil
}

func plainText(err error) string { return err.Error() }

func plainError(text string) error { return errors.New(text) }

// shareFailure shares a failure with the other instances for as long as it pauses
// the key.
func (f *fill) shareFailure(r failure, now time.Time) {
	if !f.usesFar() {
		return
	}
	if record := f.cache.record(r); record != nil {
		f.cache.far.Fail(f.key, record, r.until.Sub(now))
	}
}

// paused is the PausedError of a key that another instance's failure pauses, or
// one of our own now that Redis has turned out to hold a copy.
func (f *fill) paused(now time.Time) error {
	shared, ok := f.cache.readRecord(f.farFailure, &f.policy, now)
	if ok {
		f.cache.failures.adopt(f.key, shared)
	}
	if !ok && !f.confirms && (f.copy == nil || f.copy.tier != Far) {
		return nil // our own failures were checked before the flight
	}
	if wait, err := f.cache.failures.paused(f.key, f.hasCopy(now), now); err != nil {
		return &PausedError{err, wait}
	}
	return nil
}

// QuotaAware is a Loader whose loads draw from a quota, on which callers without a copy
// depend.
type QuotaAware interface {
	Loader
	// Withholds reports whether a refresh is to be withheld. worth says whether it is
	// worth a call where this share, 0 to 1, is left of what refreshes may take.
	Withholds(ctx context.Context, worth func(left float64) bool) bool
}

// errWithheld says why a stale copy is served without a try.
var errWithheld = errors.New("the refresh was withheld: little is left of the quota")

// withholds reports whether the refresh of a key is withheld, whose copy is in this state
// and fresh for left. It is not decided again before the longest pause after failures
// has passed, less up to a fifth: by then, the quota may be restored.
func (s *Space) withholds(ctx context.Context, key string, load Loader, state policy.State, left time.Duration, now time.Time) bool {
	t, ok := load.(QuotaAware)
	if !ok {
		return false
	}
	_, err := s.cache.withheld.paused(key, true, now)
	switch {
	case err != nil:
		return true
	case !t.Withholds(ctx, func(quota float64) bool { return s.policy.WorthCall(state, left, quota) }):
		return false
	}
	s.cache.withheld.adopt(key, failure{err: errWithheld, until: now.Add(jitter.Below(s.policy.PauseMax, 0.2))})
	return true
}

// withheldCopy is the copy to be served in the place of a load that is withheld; nil: it
// is not.
func (f *fill) withheldCopy(ctx context.Context) *flightResult {
	now := time.Now()
	got := f.usableCopy(now)
	if got == nil {
		return nil
	}
	state, left := f.state(f.key, &got.entry.Meta, now)
	if !f.withholds(ctx, f.key, f.loader, state, left, now) {
		return nil
	}
	return got
}
