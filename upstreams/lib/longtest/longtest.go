// Package longtest decides which tests run, so that a change can be tried in seconds and
// is tested whole in CI. By default all run but the long stories, which are told where
// SUNDRY_TEST_LONG is set; with -short none that serves, runs a command, starts other programs or takes a second.
// What is left out says so.
package longtest

import (
	"os"
	"testing"
)

// Story skips a test, or a part of one, unless SUNDRY_TEST_LONG is set: it takes many
// seconds, and shorter tests have most of what it finds.
func Story(t testing.TB) {
	t.Helper()
	if !Stories() {
		t.Skip("a long story: it is told where SUNDRY_TEST_LONG is set")
	}
}

// Stories reports whether long stories are told.
func Stories() bool { return os.Getenv("SUNDRY_TEST_LONG") != "" && !testing.Short() }

// Every is the step of a test through many cases that are alike: n, so that each nth is tried, or 1 where long
// stories are told. With the race detector, which finds in few what it finds in all, it is four times n.
func Every(n int) int {
	switch {
	case Race:
		return 4 * n
	case Stories():
		return 1
	}
	return n
}

// NotShort skips a test with -short. The reason is one like "it starts Redis".
func NotShort(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("-short: %s", reason)
	}
}
