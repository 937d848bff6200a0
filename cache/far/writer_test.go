package far

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
)

// unhealthy counts writes that failed or were not tried.
func unhealthy(tier *Tier) float64 {
	n := 0.0
	for _, r := range []string{"refused", "error", "rejected"} {
		n += testutil.ToFloat64(tier.metrics.writes.WithLabelValues(r))
	}
	return n
}

func empty(tier *Tier) func() bool {
	return func() bool { all, _ := tier.queue.waiting(); return all == 0 }
}

func TestAddKeepsWhatIsThere(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		tier := open(t, url, func(c *Config) { c.Timeout = time.Second })
		tier.set("k", []byte("first"), time.Minute)
		tier.add("k", []byte("second"), time.Minute)
		tier.add("brief", []byte("v"), 0)
		waittest.Until(t, "the writes", empty(tier))
		waittest.Until(t, "the value", func() bool { v, _, _, _, _ := tier.Look(t.Context(), "k"); return string(v) == "first" })
		tier.set("k", []byte("third"), time.Minute)
		waittest.Until(t, "the value", func() bool { v, _, _, _, _ := tier.Look(t.Context(), "k"); return string(v) == "third" })
	})
}

func TestAddedValuesEnd(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	tier.add("k", []byte("v"), time.Minute)
	waittest.Until(t, "the value", func() bool { v, _, _, _, _ := tier.Look(t.Context(), "k"); return v != nil })
	if reply := server.Must("TTL sundry:k"); reply != ":60\r\n" && reply != ":59\r\n" {
		t.Errorf("it ends in %q", reply)
	}
}

// TestWritesOfAKeyKeepTheirOrder: large values and small ones, deletions
// between; the last write counts.
func TestWritesOfAKeyKeepTheirOrder(t *testing.T) {
	server := redistest.Start(t)
	tier, err := Open(Config{URL: server.URL(), Queue: 1 << 16}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<20)
	want := map[string]string{}
	for i := range 400 {
		key := fmt.Sprint(rand.IntN(20))
		switch rand.IntN(4) {
		case 0:
			tier.del(key)
			want[key] = ""
		case 1:
			want[key] = fmt.Sprint(i, large[:rand.IntN(len(large))])
			tier.set(key, []byte(want[key]), time.Minute)
		default:
			want[key] = fmt.Sprint(i)
			tier.set(key, []byte(want[key]), time.Minute)
		}
	}
	if err := tier.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	for key, v := range want {
		if got, _, _, _, _ := check.Look(t.Context(), key); string(got) != v {
			t.Errorf("%s: %.10q, want %.10q", key, got, v)
		}
	}
}

// TestDeletionsArriveAfterTrouble whatever state Redis was in when they were made,
// and with the queue full of values.
func TestDeletionsArriveAfterTrouble(t *testing.T) {
	cases := map[string]struct{ fail, recover func(*redistest.Server) }{
		"frozen":    {(*redistest.Server).Freeze, (*redistest.Server).Thaw},
		"a replica": {func(s *redistest.Server) { s.Must("REPLICAOF 127.0.0.1 1") }, func(s *redistest.Server) { s.Must("REPLICAOF NO ONE") }},
		"forbidden": {
			func(s *redistest.Server) { s.Must("ACL SETUSER default -set -del") },
			func(s *redistest.Server) { s.Must("ACL SETUSER default +set +del") },
		},
		"paused": {func(s *redistest.Server) { s.Must("CLIENT PAUSE 30000 WRITE") }, func(s *redistest.Server) { s.Must("CLIENT UNPAUSE") }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := redistest.Start(t)
			tier := open(t, server.URL(), func(c *Config) { c.Queue = 8 })
			for i := range 30 {
				server.Must(fmt.Sprintf("SET sundry:%d =00000000000001v", i))
			}
			if v, _, _, _, _ := tier.Look(t.Context(), "1"); v == nil {
				t.Fatal("no value to delete")
			}
			c.fail(server)
			for i := range 100 {
				tier.set(fmt.Sprint("more", i), []byte("v"), time.Minute)
			}
			for i := range 30 {
				tier.del(fmt.Sprint(i))
			}
			waittest.Until(t, "trouble", func() bool { return unhealthy(tier) >= 5 })
			c.recover(server)
			waittest.Until(t, "the deletions", func() bool {
				reply := server.Must("EVAL \"local n = 0 for i = 0, 29 do n = n + redis.call('exists', 'sundry:' .. i) end return n\" 0")
				return strings.HasPrefix(reply, ":0")
			})
			waittest.Until(t, "the queue to be empty", empty(tier))
		})
	}
}

// TestDeletionOfAFullRedis: it deletes while it refuses values.
func TestDeletionOfAFullRedis(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout, c.OpenFor = time.Second, time.Hour })
	server.Must("SET sundry:k =00000000000001v")
	server.Must("CONFIG SET maxmemory 1")
	for range 10 {
		tier.set("more", []byte("v"), time.Minute)
	}
	waittest.Until(t, "a pause of writes", func() bool { return tier.writes.blocked() })
	tier.del("k")
	waittest.Until(t, "the deletion", func() bool { v, _, _, _, _ := tier.Look(t.Context(), "k"); return v == nil })
}

func TestOldDeletionsAreStillCarriedOut(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	server.Must("SET sundry:k =00000000000001v")
	hour := time.Now().Add(-time.Hour)
	tier.queue.push(&job{kind: writing, cacheKey: "old", key: "sundry:old", value: []byte("v"), ttl: time.Minute, at: hour})
	tier.queue.push(&job{kind: deleting, cacheKey: "k", key: "sundry:k", created: hour, at: hour})
	waittest.Until(t, "the writes", empty(tier))
	waittest.Until(t, "the deletion", func() bool { return server.Must("DBSIZE") == ":0\r\n" })
	if n := testutil.ToFloat64(tier.metrics.dropped); n != 1 {
		t.Errorf("%v dropped", n)
	}
}

func TestDeletionsAreBoundedAndCoalesce(t *testing.T) {
	server := redistest.Start(t)
	tier, err := Open(Config{URL: server.URL(), OpenFor: time.Minute}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	for range 10_000 {
		tier.set("k", []byte("v"), time.Minute)
		tier.del("k")
	}
	if all, _ := tier.queue.waiting(); all > 3 {
		t.Errorf("%d writes wait for one key", all)
	}
	start := time.Now()
	for i := range 2 * shardCount * maxDeletions {
		tier.del(fmt.Sprint(i))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, deletions := tier.queue.waiting(); deletions > shardCount*maxDeletions || deletions < shardCount*maxDeletions/2 {
		t.Errorf("%d deletions wait", deletions)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start = time.Now()
	if err := tier.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("closing took %v", took)
	}
	if all, _ := tier.queue.waiting(); all != 0 {
		t.Errorf("%d are left", all)
	}
}

// TestValueAfterADeletionToBeRetried is written, and not deleted by the retry.
func TestValueAfterADeletionToBeRetried(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = time.Second })
	server.Must("SET sundry:k =00000000000001old")
	server.Must("ACL SETUSER default -del")
	tier.del("k")
	waittest.Until(t, "the refusal", func() bool { return unhealthy(tier) > 0 })
	server.Must("ACL SETUSER default +del")
	tier.add("k", []byte("new"), time.Minute)
	waittest.Until(t, "the writes", empty(tier))
	if v, _, _, _, _ := tier.Look(t.Context(), "k"); string(v) != "new" {
		t.Errorf("%q", v)
	}
}
