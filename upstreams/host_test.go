package upstreams

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// call asks a host and reports how it went.
func call(h *Host, result error) error {
	_, done, err := h.enter(context.Background(), Caller{})
	if err != nil {
		return err
	}
	done(result)
	return nil
}

var errUnavailable = &Error{Kind: Unavailable}

func TestManySuccessesDoNotShieldAFailingHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", BreakerConfig{Failures: 1000})
		for range 100_000 {
			_ = call(h, nil)
		}
		time.Sleep(time.Minute) // the rolling window has passed
		for i := range 20 {
			_ = call(h, []error{nil, errUnavailable}[i%2])
		}
		if h.State() != "open" {
			t.Errorf("half of twenty calls failed, and the breaker is %s", h.State())
		}
	})
}

func TestFewCallsSayNothing(t *testing.T) {
	h := newHost("a", BreakerConfig{})
	for range 4 {
		_ = call(h, errUnavailable)
	}
	if h.State() != "closed" {
		t.Error("four failures opened the breaker")
	}
}

func TestVerdictsThatCount(t *testing.T) {
	for kind := range kinds {
		h := newHost("a", BreakerConfig{})
		for range 20 {
			_ = call(h, &Error{Kind: kind})
		}
		want := map[bool]string{true: "open", false: "closed"}[kind == Unavailable || kind == Timeout || kind == Limited]
		if h.State() != want {
			t.Errorf("twenty times %v: %s, want %s", kind, h.State(), want)
		}
	}
}

func TestGaugeFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := &Hosts{Config: BreakerConfig{Open: 10 * time.Second}}
		h := hosts.Get("a")
		for range 5 {
			_ = call(h, errUnavailable)
		}
		time.Sleep(time.Minute) // nobody calls
		expected := `
# HELP sundry_upstream_breaker_state 1 for the state that the breaker of an upstream host is in, 0 for the others.
# TYPE sundry_upstream_breaker_state gauge
sundry_upstream_breaker_state{host="a",state="closed"} 0
sundry_upstream_breaker_state{host="a",state="half-open"} 1
sundry_upstream_breaker_state{host="a",state="open"} 0
`
		expected += `
# HELP sundry_upstream_breaker_forced 1 while an operator holds the breaker of an upstream host open or closed.
# TYPE sundry_upstream_breaker_forced gauge
sundry_upstream_breaker_forced{host="a"} 0
# HELP sundry_upstream_breaker_openings_total How often the breaker of an upstream host opened, probes that failed included.
# TYPE sundry_upstream_breaker_openings_total counter
sundry_upstream_breaker_openings_total{host="a"} 1
`
		if err := testutil.CollectAndCompare(newBreakerCollector(hosts), strings.NewReader(expected)); err != nil {
			t.Error(err)
		}
	})
}

func TestHangingProbesHoldTheHostOnlyForTheirTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", BreakerConfig{Open: 10 * time.Second})
		for range 5 {
			_ = call(h, errUnavailable)
		}
		time.Sleep(15 * time.Second)
		var probes []func(error)
		for range 10 {
			if _, done, err := h.enter(t.Context(), Caller{}); err == nil {
				probes = append(probes, done)
			}
		}
		if len(probes) != 2 {
			t.Errorf("%d probes at once, want 2", len(probes))
		}
		for _, done := range probes {
			done(&Error{Kind: Timeout}) // every attempt has its own timeout
		}
		time.Sleep(30 * time.Second) // twice as long as the first time
		for range 2 {
			if err := call(h, nil); err != nil {
				t.Errorf("a healthy host is refused after its probes hung: %v", err)
			}
		}
		if h.State() != "closed" {
			t.Error(h.State())
		}
	})
}
