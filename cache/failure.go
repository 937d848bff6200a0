package cache

import (
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
