package far

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

func TestRefusalsPauseLongerEachTime(t *testing.T) {
	now := time.Unix(1e9, 0)
	r := refusals{longest: 1600 * time.Millisecond}
	for range refusalsBeforePause - 1 {
		r.note(true, now)
	}
	if r.pausing(now) {
		t.Fatal("a pause after fewer refusals than refusalsBeforePause")
	}
	for i, want := range []time.Duration{100, 200, 400, 800, 1600, 1600} {
		want *= time.Millisecond
		r.note(true, now)
		r.note(true, now) // was under way
		if !r.pausing(now.Add(want*7/10)) || r.pausing(now.Add(want*13/10)) {
			t.Errorf("pause %d is not about %v: %v", i, want, r.until.Sub(now))
		}
		now = now.Add(2 * want)
	}
	r.note(false, now)
	r.note(true, now)
	if r.pausing(now) {
		t.Error("one refusal after an answer begins a pause")
	}
}

func TestBreakerTellsRefusalFromSilence(t *testing.T) {
	silence := errors.New("connection refused")
	cases := map[string]struct {
		err         error
		open, pause bool
	}{
		"answers":           {nil, false, false},
		"OOM":               {redis.ErrNoScript, false, true},
		"wrapped":           {fmt.Errorf("failed to authenticate: %w", redis.ErrCrossSlot), false, true},
		"silence":           {silence, true, false},
		"time-out":          {context.DeadlineExceeded, true, false},
		"the caller left":   {context.Canceled, false, false},
		"the caller's time": {fmt.Errorf("%w: %w", context.Canceled, context.DeadlineExceeded), false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newBreaker("test", time.Second)
				for range 20 {
					if err := g.call(func() error { return c.err }); !rejected(err) && !errors.Is(err, c.err) {
						t.Fatal(err)
					}
				}
				if g.open() != c.open || g.refusals.pausing(time.Now()) != c.pause {
					t.Errorf("open %v, pausing %v", g.open(), !c.pause)
				}
				if err := g.callAlways(func() error { return nil }); (err == nil) == c.open {
					t.Errorf("a deletion: %v", err)
				}
				time.Sleep(1300 * time.Millisecond)
				if err := g.call(func() error { return nil }); err != nil || g.blocked() {
					t.Errorf("not used again: %v", err)
				}
			})
		})
	}
}

// TestReadsGoOnWhileWritesAreRefused on a Redis that is full, or a replica.
func TestReadsGoOnWhileWritesAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ fail, recover, reply string }{
		"OOM":       {"CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "-OOM"},
		"READONLY":  {"REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "-READONLY"},
		"MISCONF":   {"CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0", "-NOREPLICAS"},
		"forbidden": {"ACL SETUSER default -set", "ACL SETUSER default +set", "-NOPERM"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server, tier := started(t, func(c *Config) { c.Timeout, c.OpenFor = time.Second, 8*time.Second })
			server.Must("SET sundry:k " + sealed("k", "v"))
			server.Must(c.fail)
			if reply, _ := server.Do("SET sundry:x v"); !strings.HasPrefix(reply, c.reply) {
				t.Fatalf("the test's Redis says %q", reply)
			}
			for i := range 50 {
				tier.set(fmt.Sprint("x", i), []byte("v"), time.Minute)
				if held, release := tier.Lease(t.Context(), "k", time.Minute); !held {
					t.Fatal("denied a lease that no instance holds")
				} else {
					release()
				}
				if v := tier.Look(t.Context(), "k", 0).Value; string(v) != "v" {
					t.Fatalf("read %d: %q", i, v)
				}
			}
			if tier.reads.blocked() || tier.writes.open() || !tier.writes.refusals.pausing(time.Now()) {
				t.Errorf("reads blocked %v, write breaker open %v", tier.reads.blocked(), tier.writes.open())
			}
			if _, gauge := breakerOpen("write", tier.writes); gauge() != 1 {
				t.Errorf("the gauge of writes says %v", gauge())
			}
			if n := testutil.ToFloat64(tier.metrics.writes.WithLabelValues("refused")); n > 20 {
				t.Errorf("%v writes were tried on a Redis that refuses them", n)
			}
			server.Must(c.recover)
			waittest.Until(t, "writes again", func() bool {
				tier.set("after", []byte("v"), time.Minute)
				return tier.Look(t.Context(), "after", 0).Value != nil
			})
		})
	}
}

// refuser speaks the protocol, and replies to each command with an error.
func refuser(t *testing.T, reply string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		for lines := bufio.NewScanner(c); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), "*") {
				_, _ = fmt.Fprintf(c, "-%s\r\n", reply)
			}
		}
	}
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	return "redis://" + l.Addr().String()
}

func TestRefusedReadsAreNoSilence(t *testing.T) {
	for _, reply := range []string{
		"LOADING Redis is loading the dataset in memory", "NOAUTH Authentication required.",
		"MASTERDOWN Link with MASTER is down", "CLUSTERDOWN The cluster is down", "ERR max number of clients reached",
	} {
		t.Run(strings.Fields(reply)[0], func(t *testing.T) {
			tier := open(t, refuser(t, reply), func(c *Config) { c.Timeout, c.OpenFor = 2*time.Second, time.Minute })
			for range 20 {
				if f := tier.Look(t.Context(), "k", 0); f.Value != nil || f.Failure != nil || f.Leased || f.Answered {
					t.Fatalf("%+v", f)
				}
			}
			if tier.reads.open() || tier.writes.blocked() {
				t.Error("the breaker opened after a reply, or for writes after reads")
			}
			if n := testutil.ToFloat64(tier.metrics.reads.WithLabelValues("refused")); n != refusalsBeforePause {
				t.Errorf("%v reads were refused, and the rest not rejected", n)
			}
		})
	}
}

func TestWrongPasswordPausesAndSaysNothing(t *testing.T) {
	server := redistest.Start(t, "--requirepass", "right")
	tier := open(t, strings.Replace(server.URL(), "://", "://:wr0ng@", 1), unhurried)
	for range 10 {
		tier.Look(t.Context(), "k", 0)
	}
	if tier.reads.open() || testutil.ToFloat64(tier.metrics.reads.WithLabelValues("refused")) < refusalsBeforePause {
		t.Error("a refused password opened the breaker")
	}
}

// TestRedisThatIsBackIsAskedAtOnce: a subscription that is confirmed shows that it is, however
// long the circuits would stay open.
func TestRedisThatIsBackIsAskedAtOnce(t *testing.T) {
	server := redistest.Start(t)
	e := listen(t, server.URL(), patient, func(c *Config) { c.OpenFor = time.Hour })
	server.Stop()
	waittest.Until(t, "the circuits of reads and writes to open", func() bool {
		e.Look(t.Context(), "k", 0)
		_, _ = e.Lease(t.Context(), "k", time.Second)
		return e.reads.open() && e.writes.open() && !e.listening()
	})
	server.Restart()
	waittest.Until(t, "the subscription", e.listening)
	e.set("k", []byte("v"), time.Minute)
	waittest.Until(t, "the value", func() bool { return string(e.Look(t.Context(), "k", 0).Value) == "v" })
}
