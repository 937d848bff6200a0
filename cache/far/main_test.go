package far

import (
	"sync/atomic"
	"time"
)

// These are writes whose dates do not matter but for their order: each is later than the
// one before.

var (
	begun = time.Now()
	dates atomic.Int64
)

// nextDate is some moment of the past, later than the one before by more than readings of
// the clock of Redis differ.
func nextDate() time.Time {
	return begun.Add(-24 * time.Hour).Add(time.Duration(dates.Add(1)) * 3 * sameTime)
}

// ready is a value that is made already.
func ready(value []byte, ttl time.Duration) func() ([]byte, time.Duration) {
	return func() ([]byte, time.Duration) { return value, ttl }
}

// sealed is a value that was created long ago, as Redis has it.
func sealed(key, payload string) string {
	return string(seal(key, false, time.UnixMilli(1), []byte(payload)))
}

// failed is the record of a failed fill, as Redis has it.
func failed(key, record string) string { return string(sealRecord(key, []byte(record))) }

func (t *Tier) set(key string, value []byte, ttl time.Duration) {
	t.Set(key, nextDate(), false, len(value), ready(value, ttl))
}

func (t *Tier) add(key string, value []byte, ttl time.Duration) {
	t.Set(key, nextDate(), true, len(value), ready(value, ttl))
}

func (t *Tier) mark(key string, at time.Time) { t.Mark(key, at, []byte("g"), time.Minute, true) }

func (t *Tier) del(key string) { t.Delete(key, nextDate()) }
