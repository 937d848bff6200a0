package host

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// call asks a host and reports how it went.
func call(h *Host, o Health) error {
	_, done, err := h.Enter(context.Background(), 0)
	if err != nil {
		return err
	}
	done(o)
	return nil
}

func TestManySuccessesDoNotShieldAFailingHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{Failures: 1000})
		for range 100_000 {
			_ = call(h, Healthy)
		}
		time.Sleep(time.Minute) // the rolling window has passed
		for i := range 20 {
			_ = call(h, []Health{Healthy, Failing}[i%2])
		}
		if h.State() != "open" {
			t.Errorf("half of twenty calls failed, and the breaker is %s", h.State())
		}
	})
}

func TestFewCallsSayNothing(t *testing.T) {
	h := newHost("a", Config{})
	for range 4 {
		_ = call(h, Failing)
	}
	if h.State() != "closed" {
		t.Error("four failures opened the breaker")
	}
}

func TestGaugeFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hosts := &Hosts{Config: Config{Open: 10 * time.Second}}
		h := hosts.Get("a")
		for range 5 {
			_ = call(h, Failing)
		}
		time.Sleep(time.Minute) // nobody calls
		expected := `
# HELP sundry_upstream_breaker_state 1 for the state that the breaker of an upstream host is in, 0 for the other states.
# TYPE sundry_upstream_breaker_state gauge
sundry_upstream_breaker_state{host="a",state="closed"} 0
sundry_upstream_breaker_state{host="a",state="half-open"} 1
sundry_upstream_breaker_state{host="a",state="open"} 0
`
		expected += `
# HELP sundry_upstream_breaker_openings_total How often the breaker of an upstream host opened, including failed probes.
# TYPE sundry_upstream_breaker_openings_total counter
sundry_upstream_breaker_openings_total{host="a"} 1
`
		if err := testutil.CollectAndCompare(NewCollector(hosts, &Quotas{}), strings.NewReader(expected)); err != nil {
			t.Error(err)
		}
		h.Force(ForceClosed)
		hosts.Get("b")
		held := `
# HELP sundry_upstream_breaker_forced 1 while an operator holds the breaker of an upstream host open or closed; none for hosts that decide by themselves.
# TYPE sundry_upstream_breaker_forced gauge
sundry_upstream_breaker_forced{host="a"} 1
`
		if err := testutil.CollectAndCompare(NewCollector(hosts, &Quotas{}), strings.NewReader(held), "sundry_upstream_breaker_forced"); err != nil {
			t.Error(err)
		}
	})
}

func TestHangingProbesHoldTheHostOnlyForTheirTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{Open: 10 * time.Second})
		for range 5 {
			_ = call(h, Failing)
		}
		time.Sleep(15 * time.Second)
		var probes []func(Health)
		for range 10 {
			if _, done, err := h.Enter(t.Context(), 0); err == nil {
				probes = append(probes, done)
			}
		}
		if len(probes) != 2 {
			t.Errorf("%d probes at once, want 2", len(probes))
		}
		for _, done := range probes {
			done(Failing) // every attempt has its own timeout
		}
		time.Sleep(30 * time.Second) // twice as long as the first time
		for range 2 {
			if err := call(h, Healthy); err != nil {
				t.Errorf("a healthy host is refused after its probes hung: %v", err)
			}
		}
		if h.State() != "closed" {
			t.Error(h.State())
		}
	})
}

func TestOperatorsHoldBreakers(t *testing.T) {
	h := newHost("a", Config{Failures: 1})
	fail := func() error {
		_, done, err := h.Enter(t.Context(), 0)
		if err == nil {
			done(Failing)
		}
		return err
	}
	h.Force(ForceClosed)
	for range 5 {
		if err := fail(); err != nil {
			t.Fatalf("held closed: %v", err)
		}
	}
	h.Force(ForceOpen)
	if err := fail(); !errors.Is(err, ErrRejected) || h.State() != "open" {
		t.Errorf("held open: %v, %s", err, h.State())
	}
	h.Force(Unforced)
	if h.State() != "closed" {
		t.Errorf("the breaker learned while it was held: %s", h.State())
	}
	if fail() != nil || fail() == nil || h.State() != "open" {
		t.Errorf("the breaker does not decide by itself: %s", h.State())
	}
	h.Reset()
	if h.State() != "closed" || fail() != nil {
		t.Errorf("after a reset: %s", h.State())
	}
	for _, s := range []string{"auto", "open", "closed"} {
		if f, err := ParseForce(s); err != nil || f.String() != s {
			t.Errorf("%s: %v %v", s, f, err)
		}
	}
	if _, err := ParseForce("ajar"); err == nil {
		t.Error("ajar was accepted")
	}
}
