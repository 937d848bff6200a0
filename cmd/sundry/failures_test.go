package main

import (
	"context"
	"fmt"
	"testing"

	"sundry/upstreams"
)

func TestFailuresTravelByKind(t *testing.T) {
	for name, err := range map[string]error{
		"unavailable": &upstreams.Error{Kind: upstreams.Unavailable, Source: "one", Status: 503},
		"timeout":     fmt.Errorf("fill: %w", context.DeadlineExceeded),
		"limited":     &upstreams.Error{Kind: upstreams.Limited},
		"internal":    fmt.Errorf("load panicked"),
		"":            &upstreams.Error{Kind: upstreams.Invalid, Parameter: "n", Message: "for this caller"},
	} {
		if got := describeFailure(err); got != name {
			t.Errorf("%v: %q, want %q", err, got, name)
		}
		if name != "" && upstreams.KindOf(restoreFailure(name)) != upstreams.KindOf(err) {
			t.Errorf("%s came back as %v", name, restoreFailure(name))
		}
	}
	for _, text := range []string{"invalid", "forbidden", "unknown", "anything"} {
		if err := restoreFailure(text); err != nil {
			t.Errorf("%q became %v", text, err)
		}
	}
}
