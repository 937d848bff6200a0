package cache

import (
	"errors"
	"fmt"
	"testing"

	"sundry/cache/clients"
)

// TestFillsOfOneClient leave fills for others; those inside a fill are not counted.
func TestFillsOfOneClient(t *testing.T) {
	t.Parallel()
	g := newFlights(40, nil)
	start := func(endpoint string, client clients.ID, n int) (started []*flight) {
		for i := range n {
			f, ok, err := g.join(fmt.Sprint(endpoint, client, i), account{endpoint, client})
			if ok {
				started = append(started, f)
			} else if !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
		}
		return started
	}
	ofOne := append(start("a", 1, 30), start("b", 1, 30)...)
	if len(ofOne) != 10 {
		t.Errorf("one client starts %d of 40 fills", len(ofOne))
	}
	other := start("a", 2, 1)
	if len(other) != 1 || len(start("", 1, 5)) != 5 {
		t.Error("another client starts none, or a fill inside another one is counted")
	}
	for _, f := range append(ofOne, other...) {
		g.finish(f, nil, nil)
		g.leave(f)
	}
	if n := g.running(); n != 0 {
		t.Errorf("%d fills are still counted", n)
	}
}
