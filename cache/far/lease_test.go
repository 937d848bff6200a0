package far

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

func TestLeaseIsBounded(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	for i, ttl := range []time.Duration{0, -time.Second, time.Microsecond, 24 * time.Hour, 20 * time.Second} {
		held, release := tier.Lease(t.Context(), fmt.Sprint(i), ttl)
		defer release()
		var left int
		if _, err := fmt.Sscanf(server.Must(fmt.Sprint("PTTL sundry:lease:", i)), ":%d", &left); err != nil || !held {
			t.Fatal(held, err)
		}
		if left <= 0 || left > int(leaseLife.Milliseconds()) {
			t.Errorf("a lease for %v lasts %d ms", ttl, left)
		}
	}
}

// TestLeaseIsRenewedWhileItIsHeld: it outlives its first term, and ends with its
// holder's.
func TestLeaseIsRenewedWhileItIsHeld(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	begin := time.Now()
	held, release := tier.Lease(t.Context(), "k", time.Minute)
	if !held {
		t.Fatal("a free lease was denied")
	}
	_, _ = tier.Lease(t.Context(), "short", leaseLife+leaseRenewal)
	waittest.Until(t, "its first term to be over", func() bool {
		if _, _, _, leased, _ := tier.Look(t.Context(), "k"); !leased {
			t.Fatalf("gone after %v, while it is held", time.Since(begin))
		}
		return time.Since(begin) > leaseLife+leaseRenewal/2
	})
	waittest.Until(t, "the end of one that is not released", func() bool { _, _, _, leased, _ := tier.Look(t.Context(), "short"); return !leased })
	if took := time.Since(begin); took > 2*leaseLife {
		t.Errorf("it was held for %v", took)
	}
	release()
	waittest.Until(t, "its release", func() bool { _, _, _, leased, _ := tier.Look(t.Context(), "k"); return !leased })
}

// TestLostReplyLeavesNoLease: Redis granted it, and the reply was lost.
func TestLostReplyLeavesNoLease(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	one.Look(t.Context(), "k") // connects
	server.Freeze()
	held, release := one.Lease(t.Context(), "k", time.Minute)
	if !held {
		t.Fatal("a frozen Redis denies leases")
	}
	server.Thaw()
	waittest.Until(t, "the lease whose reply was lost", func() bool {
		_, _, _, leased, _ := two.Look(t.Context(), "k")
		return leased
	})
	release()
	waittest.Until(t, "its release", func() bool { _, _, _, leased, _ := two.Look(t.Context(), "k"); return !leased })
}

// TestReleaseComesThroughAfterAFreeze: a failed release is retried.
func TestReleaseComesThroughAfterAFreeze(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	held, release := one.Lease(t.Context(), "k", time.Minute)
	if !held {
		t.Fatal("a free lease was denied")
	}
	server.Freeze()
	release()
	waittest.Until(t, "the release to fail", func() bool { return unhealthy(one) > 0 })
	server.Thaw()
	waittest.Until(t, "the release", func() bool { _, _, _, leased, _ := two.Look(t.Context(), "k"); return !leased })
}

// TestLeaseGoesAfterWhatWasWritten: an instance that sees it released sees the
// value, or the failure.
func TestLeaseGoesAfterWhatWasWritten(t *testing.T) {
	server := redistest.Start(t)
	slow := func(c *Config) { c.Timeout = 2 * time.Second }
	one, two := open(t, server.URL(), slow), open(t, server.URL(), slow)
	value := bytes.Repeat([]byte("x"), 1<<20)
	for i := range 20 {
		key := fmt.Sprint(i)
		_, release := one.Lease(t.Context(), key, time.Minute)
		if i%2 == 0 {
			one.set(key, value, time.Minute)
		} else {
			one.Fail(key, value, time.Minute)
		}
		release()
		waittest.Until(t, "the release", func() bool {
			v, _, f, leased, _ := two.Look(t.Context(), key)
			if !leased && v == nil && f == nil {
				t.Fatal("the lease is released, without a value or failure")
			}
			return !leased
		})
	}
}

func TestPanickingHolderReleasesTheLease(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	func() {
		defer func() { _ = recover() }()
		_, release := tier.Lease(t.Context(), "k", time.Minute)
		defer release()
		panic("in the middle of a fill")
	}()
	waittest.Until(t, "the release", func() bool { _, _, _, leased, _ := tier.Look(t.Context(), "k"); return !leased })
}
