package far

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

// runAll does once all that a tier can do.
func runAll(t *testing.T, url string) {
	t.Helper()
	tier := open(t, url, unhurried)
	for i := range 20 { // of all slots
		key := fmt.Sprint("key", i)
		waittest.Until(t, "the first contact", func() bool { tier.Look(t.Context(), key, 0); return !tier.reads.blocked() })
		release := mustLease(t, tier, key)
		if !tier.Look(t.Context(), key, 0).Leased {
			t.Fatal("the lease is not seen")
		}
		tier.set(key, []byte("first"), time.Minute)
		tier.add(key, []byte("second"), time.Minute)
		tier.Fail(key, []byte("record"), time.Minute)
		release()
		waittest.Until(t, "the writes", empty(tier))
		if f := tier.Look(t.Context(), key, 0); string(f.Value) != "first" || string(f.Failure) != "record" || f.Leased {
			t.Fatalf("%+v", f)
		}
		tier.set(key, []byte("third"), time.Minute)
		tier.del(key)
		waittest.Until(t, "the writes", empty(tier))
		if f := tier.Look(t.Context(), key, 0); f.Value != nil || string(f.Failure) != "record" {
			t.Fatalf("%+v", f)
		}
	}
	d := tier.SharedValue("settings")
	if ok, err := d.CompareAndSwap(t.Context(), nil, []byte("v")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if v, err := d.Load(t.Context()); string(v) != "v" || err != nil {
		t.Errorf("%q %v", v, err)
	}
	other := listen(t, url)
	for i := range 5 { // of several slots
		key := fmt.Sprint("key", i)
		_, release := tier.Lease(t.Context(), key, time.Minute)
		at := time.Unix(60, 0) // nothing is there
		tier.mark(key, at)
		release()
		other.hears(t, announcement(key, at))
	}
}

// with turns a plain URL into one over TLS.
func with(file, scheme, user, addr, path string) string {
	return scheme + "://" + user + addr + path + "?tls_ca_file=" + file + "&tls_cert_file=" + file
}

func TestTLS(t *testing.T) {
	file := redistest.Certificate(t)
	addr, options := redistest.TLS(t, file)
	redistest.Start(t, append(options, "--requirepass", "s3cret")...)
	runAll(t, with(file, "rediss", ":s3cret@", addr, "/0"))

	stranger := redistest.Certificate(t)
	for name, url := range map[string]string{
		"another's certificate": "rediss://:s3cret@" + addr + "?tls_ca_file=" + stranger + "&tls_cert_file=" + file,
		"another name":          with(file, "rediss", ":s3cret@", addr, "") + "&tls_server_name=redis.example",
		"no TLS":                "redis://:s3cret@" + addr,
	} {
		d := open(t, url).SharedValue("settings")
		if _, err := d.Load(t.Context()); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	unverified := "rediss://:s3cret@" + addr + "?skip_verify=true&tls_cert_file=" + file
	if _, err := open(t, unverified).SharedValue("settings").Load(t.Context()); err != nil {
		t.Errorf("unverified: %v", err)
	}
}

// TestFrozenTLS: a handshake that hangs delays no caller.
func TestFrozenTLS(t *testing.T) {
	t.Parallel()
	file := redistest.Certificate(t)
	addr, options := redistest.TLS(t, file)
	server := redistest.Start(t, options...)
	tier := open(t, with(file, "rediss", "", addr, ""))
	server.Freeze()
	for range 8 {
		quick(t, tier)
	}
	server.Thaw()
	waittest.Until(t, "Redis is used again", func() bool {
		tier.set("k", []byte("v"), time.Minute)
		return tier.Look(t.Context(), "k", 0).Value != nil
	})
}

func TestSentinel(t *testing.T) {
	master := redistest.Start(t, "--requirepass", "masterpass")
	sentinel := redistest.StartSentinel(t, master, "sentinel auth-pass main masterpass",
		"user default off", "user watcher on >watchpass allcommands allchannels")
	runAll(t, "redis://watcher:watchpass@"+sentinel.Addr+"/3?master_name=main&password=masterpass")

	d := open(t, "redis://watcher:wr0ng@"+sentinel.Addr+"?master_name=main&password=masterpass").SharedValue("settings")
	if _, err := d.Load(t.Context()); err == nil || strings.Contains(err.Error(), "wr0ng") {
		t.Errorf("a Sentinel that takes any password: %v", err)
	}
}

func TestSentinelOverTLS(t *testing.T) {
	file := redistest.Certificate(t)
	addr, options := redistest.TLS(t, file)
	master := redistest.Start(t, append(options, "--tls-replication", "yes")...)
	watched := *master
	watched.Addr = addr // where others reach it
	sentinelAddr, sentinelOptions := redistest.TLS(t, file)
	lines := []string{"tls-replication yes"}
	for i := 0; i < len(sentinelOptions); i += 2 {
		lines = append(lines, strings.TrimPrefix(sentinelOptions[i], "--")+" "+sentinelOptions[i+1])
	}
	redistest.StartSentinel(t, &watched, lines...)
	runAll(t, with(file, "rediss", "", sentinelAddr, "")+"&master_name=main")
}

func TestCluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 2)
	runAll(t, nodes.URL())
	for _, n := range nodes {
		n.Must("FLUSHALL")
	}
	runAll(t, "redis+cluster://"+nodes[1].Addr)
}

// TestClusterWithAFrozenNode: what the other node has is still read, and no
// call is over its budget.
func TestClusterWithAFrozenNode(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 2, "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000")
	tier := open(t, "redis+cluster://"+nodes[0].Addr, func(c *Config) { c.OpenFor = 10 * time.Millisecond })
	for i := range 20 {
		tier.set(fmt.Sprint(i), []byte("v"), time.Minute)
	}
	waittest.Until(t, "the writes", empty(tier))
	has := 0
	if _, err := fmt.Sscanf(nodes[0].Must("DBSIZE"), ":%d", &has); err != nil || has == 0 || has == 20 {
		t.Fatal(has, err)
	}
	nodes[1].Freeze()
	found := map[int]bool{}
	waittest.Until(t, "what the node that is well has", func() bool {
		for _, i := range rand.Perm(20) { // half-open, the breaker tries whichever comes
			start := time.Now()
			if v := tier.Look(t.Context(), fmt.Sprint(i), 0).Value; v != nil {
				found[i] = true
			}
			if took := time.Since(start); took > 4*tier.cfg.Timeout {
				t.Errorf("a read took %v", took)
			}
		}
		return len(found) == has
	})
	nodes[1].Thaw()
	waittest.Until(t, "all of it", func() bool {
		for i := range 20 {
			if v := tier.Look(t.Context(), fmt.Sprint(i), 0).Value; v == nil {
				return false
			}
		}
		return true
	})
}

// TestASlotThatMoves is read and written all the time, and nobody pauses on the way to its
// new master.
func TestASlotThatMoves(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 3)
	tier := open(t, nodes.URL(), unhurried)
	tier.set("k", []byte("v"), time.Minute)
	waittest.Until(t, "the write", empty(tier))
	slot := redistest.Slot("k")
	round := 0
	nodes.MoveSlot(slot, (nodes.Owner(slot)+1)%len(nodes), func() {
		quickest := time.Hour
		for range 20 {
			start := time.Now()
			if v := tier.Look(t.Context(), "k", 0).Value; v == nil {
				t.Error("the value is not found")
			}
			quickest = min(quickest, time.Since(start))
		}
		if quickest >= 10*time.Millisecond {
			t.Errorf("the quickest look took %v", quickest)
		}
		held, release := tier.Lease(t.Context(), "k", time.Minute)
		if round++; !held {
			t.Error("a free lease was denied")
		}
		tier.set("k", []byte{byte(round)}, time.Minute)
		release()
		waittest.Until(t, "the writes", func() bool {
			f := tier.Look(t.Context(), "k", 0)
			return f.Value[0] == byte(round) && !f.Leased
		})
	})
	if v := tier.Look(t.Context(), "k", 0).Value; round != 2 || v == nil || v[0] != 2 {
		t.Errorf("afterwards it is %v", v)
	}
}

func TestFrozenCluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 2)
	for _, n := range nodes {
		n.Freeze()
	}
	// It never learned which node has which slots.
	tier, err := Open(Config{URL: "redis+cluster://" + nodes[0].Addr}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(t.Context())
	for range 8 {
		quick(t, tier)
	}
	for _, n := range nodes {
		n.Thaw()
	}
}
