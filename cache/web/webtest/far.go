// Package webtest has what instances share, for tests without Redis.
package webtest

import (
	"context"
	"time"

	"sundry/cache/entry"
)

// Far is a web.Far that keeps what is newest. It is not safe for concurrent use.
type Far map[string]entry.Found

// Look implements web.Far.
func (f Far) Look(_ context.Context, key string, _ time.Duration) entry.Found {
	return entry.Found{Value: f[key].Value, Created: f[key].Created, Answered: true}
}

// Set implements web.Far.
func (f Far) Set(key string, created time.Time, _, _ bool, _ int, value func() ([]byte, time.Duration)) {
	if b, ttl := value(); ttl > 0 && created.After(f[key].Created) {
		f[key] = entry.Found{Value: b, Created: created}
	}
}

// Mark implements web.Far.
func (f Far) Mark(key string, created time.Time, value []byte, ttl time.Duration, _ bool) {
	f.Set(key, created, false, true, 1, func() ([]byte, time.Duration) { return value, ttl })
}
