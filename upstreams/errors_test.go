package upstreams

import (
	"context"
	"fmt"
	"testing"

	"sundry/upstreams/host"
)

// TestOutcomes: what counts against a host is that it failed, was silent, or
// asked us to slow down.
func TestOutcomes(t *testing.T) {
	for kind := range kinds {
		want := host.Healthy
		if kind == Unavailable || kind == Timeout || kind == Limited {
			want = host.Failing
		}
		if got := outcome(&Error{Kind: kind}); got != want {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
	if outcome(nil) != host.Healthy || outcome(context.DeadlineExceeded) != host.Failing {
		t.Error("nil, or a deadline that is over")
	}
	if got := outcome(&Error{Kind: Unavailable, Err: fmt.Errorf("send: %w", context.Canceled)}); got != host.Untold {
		t.Errorf("a call that nobody wanted any more: %v", got)
	}
}
