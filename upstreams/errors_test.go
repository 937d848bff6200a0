package upstreams

import (
	"context"
	"fmt"
	"testing"
)

// TestOutcomes: what counts against a host is that it failed, was silent, or
// asked us to slow down.
func TestOutcomes(t *testing.T) {
	for kind := range kinds {
		want := Healthy
		if kind == Unavailable || kind == Timeout || kind == Limited {
			want = Failing
		}
		if got := outcome(&Error{Kind: kind}); got != want {
			t.Errorf("%v: %v, want %v", kind, got, want)
		}
	}
	if outcome(nil) != Healthy || outcome(context.DeadlineExceeded) != Failing {
		t.Error("nil, or a deadline that is over")
	}
	if got := outcome(&Error{Kind: Unavailable, Err: fmt.Errorf("send: %w", context.Canceled)}); got != Untold {
		t.Errorf("a call that nobody wanted any more: %v", got)
	}
}
