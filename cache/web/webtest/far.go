// Package webtest has what instances share, for tests without Redis.
package webtest

import (
	"context"
	"fmt"
	"time"

	"sundry/cache/entry"
)

// Far is a web.Far that keeps what is newest. It is not safe for concurrent use.
type Far map[string]entry.Found

// Look implements web.Far.
func (f Far) Look(_ context.Context, key string, _ time.Duration) entry.Found {
	return entry.Found{Value: f[key].Value, Created: f[key].Created, Purged: f[key].Purged, Answered: true}
}

// Version implements web.Far.
func (f Far) Version(_ context.Context, keys ...string) (version string, ok bool) {
	for _, key := range keys {
		version += fmt.Sprintf("%x %d %d\n", f[key].Value, f[key].Created.UnixMilli(), f[key].Purged.UnixMilli())
	}
	return version, true
}

// Share implements web.Far.
func (f Far) Share(key string, created time.Time, _ bool, _ int, value func() ([]byte, time.Duration), purged func(time.Time)) {
	b, ttl := value()
	if ttl <= 0 {
		return
	}
	before := f[key]
	if len(before.Value) == 1 { // a mark
		before.Purged = before.Created
	}
	if created.After(before.Created) {
		f[key] = entry.Found{Value: b, Created: created, Purged: before.Purged}
	}
	if purged != nil && !before.Purged.IsZero() {
		purged(before.Purged)
	}
}

// Mark implements web.Far.
func (f Far) Mark(key string, created time.Time, value []byte, _ time.Duration, _ bool) {
	switch before := f[key]; {
	case created.After(before.Created):
		f[key] = entry.Found{Value: value, Created: created}
	case len(before.Value) > 1 && created.After(before.Purged):
		before.Purged = created
		f[key] = before
	}
}
