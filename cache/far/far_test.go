package far

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"sundry/cache/far/redistest"
)

func TestMain(m *testing.M) {
	longtest.WaitTogether()
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, url string, change ...func(*Config)) *Tier {
	t.Helper()
	cfg := Config{URL: url, OpenFor: 200 * time.Millisecond}
	for _, c := range change {
		c(&cfg)
	}
	tier, err := Open(cfg, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := tier.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return tier
}

// started is a tier on a Redis of its own.
func started(t *testing.T, change ...func(*Config)) (*redistest.Server, *Tier) {
	t.Helper()
	server := redistest.Start(t)
	return server, open(t, server.URL(), change...)
}

// unhurried is for tests whose Redis answers soon, on a busy machine.
func unhurried(c *Config) { c.Timeout = time.Second }

// patient is for tests of what a busy machine must not turn into a Redis that is slow.
func patient(c *Config) { c.Timeout = 5 * time.Second }

// servers runs a test on an in-process Redis and, where there is one, on a
// real one.
func servers(t *testing.T, f func(t *testing.T, url string)) {
	t.Run("in-process", func(t *testing.T) { f(t, "redis://"+miniredis.RunT(t).Addr()) })
	t.Run("real", func(t *testing.T) { f(t, redistest.Start(t).URL()) })
}

func TestKeepsAndForgets(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		tier := open(t, url)
		if value := tier.Look(t.Context(), "k", 0).Value; value != nil {
			t.Fatal("a value that was never written")
		}
		big := strings.Repeat("x", 1<<20)
		tier.set("k", []byte(big), time.Minute)
		waittest.Until(t, "the write", func() bool { return string(tier.Look(t.Context(), "k", 0).Value) == big })
		tier.del("k")
		waittest.Until(t, "the deletion", func() bool { return tier.Look(t.Context(), "k", 0).Value == nil })
		waittest.Until(t, "the queue to be empty", empty(tier))
		tier.set("short", []byte("v"), 0)
		waittest.Until(t, "the queue to be empty", empty(tier))
		if value := tier.Look(t.Context(), "short", 0).Value; value != nil {
			t.Error("a value without a lifetime was written")
		}
	})
}

func TestLease(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		one, two := open(t, url, patient), open(t, url, patient)
		release := mustLease(t, one, "k")
		if held, r := two.Lease(t.Context(), "k", time.Minute); held {
			t.Fatal("a lease was given twice")
		} else {
			r() // releasing what one does not hold must not free it
		}
		if held, _ := two.Lease(t.Context(), "k", time.Minute); held {
			t.Fatal("the lease was freed by another")
		}
		release()
		release()
		waittest.Until(t, "the release", func() bool {
			held, release := two.Lease(t.Context(), "k", time.Minute)
			release()
			return held
		})
	})
}

// TestClosingNoTier does nothing, as where there is no Redis.
func TestClosingNoTier(t *testing.T) {
	var none *Tier
	if err := none.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// quick asserts that a read of a failing Redis returns within the budget, and
// some scheduling.
func quick(t *testing.T, tier *Tier) {
	t.Helper()
	start := time.Now()
	if f := tier.Look(t.Context(), "k", 0); f.Value != nil || f.Answered {
		t.Error("a failing Redis returned a value, or answered")
	}
	if took := time.Since(start); took > 4*tier.cfg.Timeout {
		t.Errorf("a read took %v", took)
	}
}

func TestFrozenRedis(t *testing.T) {
	t.Parallel()
	srv, tier := started(t)
	tier.set("k", []byte("v"), time.Minute)
	waittest.Until(t, "the write", func() bool { return tier.Look(t.Context(), "k", 0).Value != nil })
	srv.Freeze()
	for range 8 {
		quick(t, tier)
	}
	if !tier.reads.blocked() {
		t.Error("the breaker is closed on a frozen Redis")
	}
	if held, _ := tier.Lease(t.Context(), "k", time.Second); !held {
		t.Error("a frozen Redis denies leases")
	}
	srv.Thaw()
	waittest.Until(t, "Redis is used again", func() bool { return tier.Look(t.Context(), "k", 0).Value != nil })
}

func TestStoppedAndRestartedRedis(t *testing.T) {
	srv, tier := started(t)
	srv.Stop()
	for range 8 {
		quick(t, tier)
	}
	srv.Restart()
	waittest.Until(t, "Redis is used again", func() bool {
		tier.set("k", []byte("v"), time.Minute)
		return tier.Look(t.Context(), "k", 0).Value != nil
	})
	waittest.Until(t, "the last of the writes", empty(tier))
	if _, err := srv.Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	if value := tier.Look(t.Context(), "k", 0).Value; value != nil {
		t.Error("a flushed value came back")
	}
}

func TestRubbishServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\nthis is not Redis\r\n"))
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	tier := open(t, "redis://"+l.Addr().String())
	for range 5 {
		quick(t, tier)
	}
}

func TestQueueDropsAndNeverBlocks(t *testing.T) {
	srv, tier := started(t, func(c *Config) { c.Queue, c.QueueBytes = 8, 10_000 })
	srv.Freeze()
	start := time.Now()
	for i := range 1000 {
		tier.set(fmt.Sprint(i), make([]byte, 100), time.Minute)
	}
	tier.set("large", make([]byte, 20_000), time.Minute)
	if took := time.Since(start); took > time.Second {
		t.Errorf("a thousand writes took %v", took)
	}
	if n := testutil.ToFloat64(tier.metrics.dropped); n < 900 {
		t.Errorf("%v dropped", n)
	}
	srv.Thaw()
}

func TestCloseWritesWhatWaits(t *testing.T) {
	srv := redistest.Start(t)
	// A write that takes longer than it may is given up, here as well.
	tier, err := Open(Config{URL: srv.URL() + "?write_timeout=10s"}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		tier.set(fmt.Sprint(i), []byte("v"), time.Minute)
	}
	if err := tier.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if reply, err := srv.Do("DBSIZE"); err != nil || !strings.HasPrefix(reply, ":100") {
		t.Errorf("%q %v", reply, err)
	}
}

// TestLookReadsEachReplyForItself: a reply that is missing, or not a string, does
// not hide the others.
func TestLookReadsEachReplyForItself(t *testing.T) {
	type seen struct {
		value, failure string
		leased         bool
	}
	cases := map[string]struct {
		put  []string
		want seen
	}{
		"nothing":                {nil, seen{}},
		"a value":                {[]string{"SET sundry:k " + sealed("k", "v")}, seen{value: "v"}},
		"a failure":              {[]string{"SET sundry:failed:k " + failed("k", "f")}, seen{failure: "f"}},
		"a lease":                {[]string{"SET sundry:lease:k t"}, seen{leased: true}},
		"all":                    {[]string{"SET sundry:k " + sealed("k", "v"), "SET sundry:failed:k " + failed("k", "f"), "SET sundry:lease:k t"}, seen{"v", "f", true}},
		"a list for a value":     {[]string{"LPUSH sundry:k v", "SET sundry:failed:k " + failed("k", "f"), "SET sundry:lease:k t"}, seen{"", "f", true}},
		"a list for a failure":   {[]string{"SET sundry:k " + sealed("k", "v"), "LPUSH sundry:failed:k f", "SET sundry:lease:k t"}, seen{"v", "", true}},
		"a list for the lease":   {[]string{"SET sundry:k " + sealed("k", "v"), "LPUSH sundry:lease:k t"}, seen{value: "v"}},
		"lists alone":            {[]string{"LPUSH sundry:k v", "LPUSH sundry:failed:k f"}, seen{}},
		"an empty value is none": {[]string{`SET sundry:k ""`}, seen{}},
	}
	server := redistest.Start(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server.Must("FLUSHALL")
			for _, command := range c.put {
				server.Must(command)
			}
			tier := open(t, server.URL(), unhurried)
			for range 10 {
				f := tier.Look(t.Context(), "k", 0)
				if got := (seen{string(f.Value), string(f.Failure), f.Leased}); got != c.want {
					t.Fatalf("%+v, want %+v", got, c.want)
				}
			}
			if tier.reads.blocked() {
				t.Error("it counts as a failure")
			}
			result := "miss"
			if c.want.value != "" {
				result = "hit"
			}
			if n := testutil.ToFloat64(tier.metrics.reads.WithLabelValues(result)); n != 10 {
				t.Errorf("%v of ten counted as %s", n, result)
			}
		})
	}
}
