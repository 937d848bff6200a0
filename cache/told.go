package cache

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

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
