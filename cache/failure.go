package cache

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxFailures bounds the records of keys that could not be filled.
const maxFailures = 20_000

// failures remembers which keys failed of late, so that a sick upstream is not
// asked again by every request. The zero value is not usable; see newFailures.
type failures struct {
	mu  sync.Mutex
	lru *lru.LRU[string, failure]
}

type failure struct {
	err   error
	until time.Time
	times int
	// covered means that a copy was at hand that neither a no nor a last resort
	// may replace. Without one, it does not count.
	covered bool
}

func newFailures() *failures {
	l, err := lru.NewLRU[string, failure](maxFailures, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &failures{lru: l}
}

// paused returns the failure that still forbids a try at now, with a copy that
// covers or without, and how long it does; or nil.
func (f *failures) paused(key string, covered bool, now time.Time) (wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.lru.Peek(key); ok && now.Before(r.until) && (covered || !r.covered) {
		return r.until.Sub(now), r.err
	}
	return 0, nil
}

// add records a failure, and returns how long it forbids the next try: twice as
// long with each in a row, spread by a fifth, never past the policy's bound.
func (f *failures) add(key string, err error, covered bool, p *Policy, now time.Time) failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, _ := f.lru.Peek(key)
	spread := 0.8 + 0.2*rand.Float64()
	pause := time.Duration(float64(p.pauseAfter(r.times)) * spread)
	r = failure{err: err, until: now.Add(pause), times: r.times + 1, covered: covered}
	f.lru.Add(key, r)
	return r
}

// adopt takes over a failure of another instance's, unless the own one lasts
// longer.
func (f *failures) adopt(key string, r failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own, ok := f.lru.Peek(key); !ok || r.until.After(own.until) {
		r.times = max(r.times, own.times)
		f.lru.Add(key, r)
	}
}

// pauseAfter is the pause when so many tries in a row failed before.
func (p *Policy) pauseAfter(times int) time.Duration {
	pause := max(0, min(p.Pause, p.PauseMax))
	for range times {
		switch {
		case pause == 0:
			return 0
		case pause > p.PauseMax/2:
			return p.PauseMax
		}
		pause *= 2
	}
	return pause
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
	maxFailedTimes = 1000
)

// failureRecord is what an instance tells the others, in Redis, of a fill that
// failed.
type failureRecord struct {
	Text    string `json:"text"`
	Until   int64  `json:"until"` // unix milliseconds
	Times   int    `json:"times"` // tries in a row
	Covered bool   `json:"covered,omitempty"`
}

// record is nil for a failure that the others are not to hear of.
func (c *Cache) record(r failure) []byte {
	said := c.describe(r.err)
	if said == "" {
		return nil
	}
	said = strings.ToValidUTF8(said[:min(len(said), maxFailureText)], "")
	record, err := json.Marshal(failureRecord{said, r.until.UnixMilli(), min(r.times, maxFailedTimes), r.covered})
	if err != nil {
		return nil
	}
	return record
}

// readRecord believes a record as far as it makes sense and is still in force.
// No instance can pause a key for longer than this one's policy would.
func (c *Cache) readRecord(record []byte, p *Policy, now time.Time) (failure, bool) {
	var r failureRecord
	if len(record) == 0 || len(record) > maxRecord || json.Unmarshal(record, &r) != nil {
		return failure{}, false
	}
	until := time.UnixMilli(r.Until)
	if r.Text == "" || len(r.Text) > maxFailureText || r.Times < 1 || r.Times > maxFailedTimes || !until.After(now) {
		return failure{}, false
	}
	if longest := now.Add(p.PauseMax); until.After(longest) {
		until = longest
	}
	err := c.restore(r.Text)
	return failure{err, until, r.Times, r.Covered}, err != nil
}

func plainText(err error) string { return err.Error() }

func plainError(text string) error { return errors.New(text) }

// tell lets the other instances know of a failure while it pauses the key.
func (f *fill) tell(r failure, now time.Time) {
	if !f.shared() {
		return
	}
	if record := f.cache.record(r); record != nil {
		f.cache.far.Fail(f.key, record, r.until.Sub(now))
	}
}

// paused tells what forbids a try: a failure that another instance told of, or
// one of our own for which it counts that Redis had a copy.
func (f *fill) paused(now time.Time) error {
	told, ok := f.cache.readRecord(f.told, &f.policy, now)
	if ok {
		f.cache.failed.adopt(f.key, told)
	}
	if !ok && (f.copy == nil || f.copy.tier != Far) {
		return nil // callers were asked to wait already
	}
	if wait, err := f.cache.failed.paused(f.key, f.covered(now), now); err != nil {
		return &PausedError{err, wait}
	}
	return nil
}
