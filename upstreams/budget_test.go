package upstreams

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllowances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{Limit: 100}
		one, two := Reservation{budget: b}, Reservation{budget: b}
		if err := one.Take(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := two.Take(t.Context(), 60); KindOf(err) != Busy || time.Since(start) != budgetTime {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := one.Take(t.Context(), 60); KindOf(err) != Malformed || time.Since(start) != budgetTime {
			t.Errorf("past the whole budget: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := two.Take(ended, 60); err == nil || KindOf(err) == Busy {
			t.Errorf("a caller who left: %v", err)
		}
		released := make(chan struct{})
		go func() { time.Sleep(time.Second); one.Release(); close(released) }()
		start = time.Now()
		if err := two.Take(t.Context(), 60); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		<-released
		two.Release()
		two.Release()
		if err := one.Take(t.Context(), 100); err != nil {
			t.Errorf("after all was given back: %v", err)
		}
	})
	var none Reservation
	if err := none.Take(t.Context(), 1<<40); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	none.Release()
}
