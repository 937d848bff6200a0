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
	server, tier := started(t, unhurried)
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

// mustLease takes a lease that no instance holds.
func mustLease(t *testing.T, tier *Tier, key string) (release func()) {
	t.Helper()
	held, release := tier.Lease(t.Context(), key, time.Minute)
	if !held {
		t.Fatal("a free lease was denied")
	}
	return release
}

// TestLeaseIsRenewedWhileItIsHeld: it outlives its first term, and ends with its
// holder's.
func TestLeaseIsRenewedWhileItIsHeld(t *testing.T) {
	t.Parallel()
	_, tier := started(t, unhurried)
	begin := time.Now()
	release := mustLease(t, tier, "k")
	_, _ = tier.Lease(t.Context(), "short", leaseLife+leaseRenewal)
	waittest.Until(t, "its first term to be over", func() bool {
		if !tier.Look(t.Context(), "k", 0).Leased {
			t.Fatalf("gone after %v, while it is held", time.Since(begin))
		}
		return time.Since(begin) > leaseLife+leaseRenewal/2
	})
	waittest.Until(t, "the end of one that is not released", func() bool { return !tier.Look(t.Context(), "short", 0).Leased })
	if took := time.Since(begin); took > 2*leaseLife {
		t.Errorf("it was held for %v", took)
	}
	release()
	waittest.Until(t, "its release", func() bool { return !tier.Look(t.Context(), "k", 0).Leased })
}

// TestLostReplyLeavesNoLease: Redis granted it, and the reply was lost.
func TestLostReplyLeavesNoLease(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), unhurried)
	one.Look(t.Context(), "k", 0) // connects
	server.Freeze()
	release := mustLease(t, one, "k")
	server.Thaw()
	waittest.Until(t, "the lease whose reply was lost", func() bool {
		return two.Look(t.Context(), "k", 0).Leased
	})
	release()
	waittest.Until(t, "its release", func() bool { return !two.Look(t.Context(), "k", 0).Leased })
}

// TestReleaseComesThroughAfterAFreeze: a failed release is retried.
func TestReleaseComesThroughAfterAFreeze(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), unhurried)
	release := mustLease(t, one, "k")
	server.Freeze()
	release()
	waittest.Until(t, "the release to fail", func() bool { return unhealthy(one) > 0 })
	server.Thaw()
	waittest.Until(t, "the release", func() bool { return !two.Look(t.Context(), "k", 0).Leased })
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
			f := two.Look(t.Context(), key, 0)
			if !f.Leased && f.Value == nil && f.Failure == nil {
				t.Fatal("the lease is released, without a value or failure")
			}
			return !f.Leased
		})
	}
}

func TestPanickingHolderReleasesTheLease(t *testing.T) {
	_, tier := started(t, unhurried)
	func() {
		defer func() { _ = recover() }()
		_, release := tier.Lease(t.Context(), "k", time.Minute)
		defer release()
		panic("in the middle of a fill")
	}()
	waittest.Until(t, "the release", func() bool { return !tier.Look(t.Context(), "k", 0).Leased })
}

// TestLookForALease takes a lease where nothing is known about a key, and nowhere else.
func TestLookForALease(t *testing.T) {
	server := redistest.Start(t)
	slow := func(c *Config) { c.Timeout = 5 * time.Second }
	one, two := open(t, server.URL(), slow), open(t, server.URL(), slow)
	for name, c := range map[string]struct {
		before        string
		taken, leased bool
	}{
		"nothing":       {"PING", true, false},
		"entry":         {"SET sundry:entry " + sealed("entry", "value"), false, false},
		"failure":       {"SET sundry:failed:failure " + failed("failure", "record"), false, false},
		"lease":         {"SET sundry:lease:lease token PX 9000", false, true},
		"entry between": {"HSET 'sundry:entry between' a b", false, true}, // not to be read, as one that comes after it was read for
	} {
		server.Must(c.before)
		f := one.Look(t.Context(), name, time.Minute)
		if (f.Release != nil) != c.taken || f.Leased != c.leased || !f.Answered {
			t.Errorf("%s: taken %v, leased elsewhere %v, answered %v", name, f.Release != nil, f.Leased, f.Answered)
		}
		if f.Release == nil {
			continue
		}
		if held, _ := two.Lease(t.Context(), name, time.Minute); held {
			t.Errorf("%s: given twice", name)
		}
		f.Release()
		waittest.Until(t, "the release", func() bool { return !two.Look(t.Context(), name, 0).Leased })
	}
}

// TestLooksForLeasesShareRoundTrips: each gets the lease of its own key.
func TestLooksForLeasesShareRoundTrips(t *testing.T) {
	const callers = 60
	server, tier := started(t, patient)
	tier.Look(t.Context(), "x", time.Minute) // connects
	server.Must("CONFIG RESETSTAT")
	server.Must("CLIENT PAUSE 200 ALL")
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			key := fmt.Sprint(i)
			if i%3 == 0 {
				server.Must("SET sundry:" + key + " " + sealed(key, "v"))
			}
		})
	}
	for i := range callers {
		all.Go(func() {
			key := fmt.Sprint(i)
			if f := tier.Look(t.Context(), key, time.Minute); !f.Answered || (f.Value == nil) != (f.Release != nil) {
				t.Errorf("%s: %q, leased %v", key, f.Value, f.Release != nil)
			}
		})
	}
	all.Wait()
	if n := commands(t, server); n > callers/3 {
		t.Errorf("%d commands for %d looks", n, callers)
	}
}

// TestLookWhereLeasesAreRefused: what is there is read all the same.
func TestLookWhereLeasesAreRefused(t *testing.T) {
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
			server, tier := started(t, unhurried)
			tier.Look(t.Context(), "first", time.Minute)
			server.Must("SET sundry:k " + sealed("k", "v"))
			server.Must(c.fail)
			for i := range 10 {
				if f := tier.Look(t.Context(), "k", time.Minute); string(f.Value) != "v" || f.Release != nil {
					t.Fatalf("look %d: %q, leased %v", i, f.Value, f.Release != nil)
				}
				if f := tier.Look(t.Context(), "free", time.Minute); !f.Answered || f.Leased || f.Release != nil && name != "forgotten scripts" {
					t.Fatalf("look %d: answered %v, leased %v, by this look %v", i, f.Answered, f.Leased, f.Release != nil)
				} else if f.Release != nil {
					f.Release()
					break
				}
			}
			if tier.reads.blocked() {
				t.Error("nothing is read any more")
			}
			server.Must(c.recover)
			waittest.Until(t, "leases again", func() bool { return tier.Look(t.Context(), "after", time.Minute).Release != nil })
		})
	}
}

// TestLookForALeaseThatIsCutOff: nobody waits for a lease that was taken, and not told of.
func TestLookForALeaseThatIsCutOff(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL()), open(t, server.URL(), unhurried)
	one.Look(t.Context(), "x", time.Minute) // connects
	server.Freeze()
	f := one.Look(t.Context(), "k", time.Minute)
	if f.Answered || f.Release == nil {
		t.Fatalf("a frozen Redis: answered %v, leased %v", f.Answered, f.Release != nil)
	}
	server.Thaw()
	waittest.Until(t, "the lease whose reply was lost", func() bool { return two.Look(t.Context(), "k", 0).Leased })
	f.Release()
	waittest.Until(t, "its release", func() bool { return !two.Look(t.Context(), "k", 0).Leased })
}
