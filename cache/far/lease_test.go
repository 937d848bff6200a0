package far

import (
	"bytes"
	"fmt"
	"sync"
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

// TestLookOrLease takes a lease where nothing is known about a key, and nowhere else.
func TestLookOrLease(t *testing.T) {
	server := redistest.Start(t)
	slow := func(c *Config) { c.Timeout = 5 * time.Second }
	one, two := open(t, server.URL(), slow), open(t, server.URL(), slow)
	for name, c := range map[string]struct {
		before        string
		taken, leased bool
	}{
		"nothing":       {"PING", true, false},
		"entry":         {"SET sundry:entry =00000000000001value", false, false},
		"failure":       {"SET sundry:failed:failure record", false, false},
		"lease":         {"SET sundry:lease:lease token PX 9000", false, true},
		"entry between": {"HSET 'sundry:entry between' a b", false, true}, // not to be read, as one that comes after it was read for
	} {
		server.Must(c.before)
		_, _, _, leased, answered, release := one.LookOrLease(t.Context(), name, time.Minute)
		if (release != nil) != c.taken || leased != c.leased || !answered {
			t.Errorf("%s: taken %v, leased elsewhere %v, answered %v", name, release != nil, leased, answered)
		}
		if release == nil {
			continue
		}
		if held, _ := two.Lease(t.Context(), name, time.Minute); held {
			t.Errorf("%s: given twice", name)
		}
		release()
		waittest.Until(t, "the release", func() bool { _, _, _, leased, _ := two.Look(t.Context(), name); return !leased })
	}
}

// TestLookOrLeaseSharesRoundTrips: each gets the lease of its own key.
func TestLookOrLeaseSharesRoundTrips(t *testing.T) {
	const callers = 60
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = 5 * time.Second })
	tier.LookOrLease(t.Context(), "x", time.Minute) // connects
	server.Must("CONFIG RESETSTAT")
	server.Must("CLIENT PAUSE 200 ALL")
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			key := fmt.Sprint(i)
			if i%3 == 0 {
				server.Must("SET sundry:" + key + " =00000000000001v")
			}
		})
	}
	for i := range callers {
		all.Go(func() {
			key := fmt.Sprint(i)
			if value, _, _, _, answered, release := tier.LookOrLease(t.Context(), key, time.Minute); !answered || (value == nil) != (release != nil) {
				t.Errorf("%s: %q, leased %v", key, value, release != nil)
			}
		})
	}
	all.Wait()
	if n := commands(t, server); n > callers/3 {
		t.Errorf("%d commands for %d looks", n, callers)
	}
}

// TestLookOrLeaseWhereLeasesAreRefused: what is there is read all the same.
func TestLookOrLeaseWhereLeasesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ fail, recover string }{
		"full":              {"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"},
		"a replica":         {"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"},
		"too few replicas":  {"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"},
		"no writing":        {"ACL SETUSER default -set", "ACL SETUSER default +set"},
		"no scripts":        {"ACL SETUSER default -@scripting", "ACL SETUSER default +@scripting"},
		"forgotten scripts": {"SCRIPT FLUSH", "PING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
			tier.LookOrLease(t.Context(), "first", time.Minute)
			server.Must("SET sundry:k =00000000000001v")
			server.Must(c.fail)
			for i := range 10 {
				if v, _, _, _, _, release := tier.LookOrLease(t.Context(), "k", time.Minute); string(v) != "v" || release != nil {
					t.Fatalf("look %d: %q, leased %v", i, v, release != nil)
				}
				if _, _, _, leased, answered, release := tier.LookOrLease(t.Context(), "free", time.Minute); !answered || leased || release != nil && name != "forgotten scripts" {
					t.Fatalf("look %d: answered %v, leased %v, by this look %v", i, answered, leased, release != nil)
				} else if release != nil {
					release()
					break
				}
			}
			if tier.reads.blocked() {
				t.Error("nothing is read any more")
			}
			server.Must(c.recover)
			waittest.Until(t, "leases again", func() bool {
				_, _, _, _, _, release := tier.LookOrLease(t.Context(), "after", time.Minute)
				return release != nil
			})
		})
	}
}

// TestLookOrLeaseThatIsCutOff: nobody waits for a lease that was taken, and not told of.
func TestLookOrLeaseThatIsCutOff(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	one.LookOrLease(t.Context(), "x", time.Minute) // connects
	server.Freeze()
	_, _, _, _, answered, release := one.LookOrLease(t.Context(), "k", time.Minute)
	if answered || release == nil {
		t.Fatalf("a frozen Redis: answered %v, leased %v", answered, release != nil)
	}
	server.Thaw()
	waittest.Until(t, "the lease whose reply was lost", func() bool { _, _, _, leased, _ := two.Look(t.Context(), "k"); return leased })
	release()
	waittest.Until(t, "its release", func() bool { _, _, _, leased, _ := two.Look(t.Context(), "k"); return !leased })
}
