// Package waittest waits in tests for what other goroutines and processes do, so
// that no test sleeps.
package waittest

import (
	"testing"
	"time"
)

// limit is long, for busy machines: only a failing test waits that long.
const limit = time.Minute

// Until returns when ok is true. If that takes too long it fails the test, with
// what it waited for.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			t.Fatalf("still waiting after %s: %s", limit, what)
		case <-tick.C:
		}
	}
}
