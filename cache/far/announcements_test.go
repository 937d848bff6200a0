package far

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/entry"
	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

func TestAnnouncementsAreRead(t *testing.T) {
	at := time.UnixMilli(1_764_000_000_123)
	announced := func(key string) string { return fmt.Sprint("replaced +", at.UnixMilli(), " ", key) }
	for _, key := range []string{"ip:abc|=x", "ip/step:a b c", strings.Repeat("k", entry.MostAnnounced)} {
		if !announceable(key) {
			t.Errorf("%q is not announced", key)
		}
		if k, created, ok := readAnnouncement(announced(key)); k != key || !created.Equal(at) || !ok {
			t.Errorf("%q %v %v", k, created, ok)
		}
	}
	for _, message := range []string{
		"", "ended k", "REPLACED +1 k", "replaced", "replaced ", "replaced +1", "replaced +1 ", "replaced + k", "replaced +x k", "replaced +0 k",
		"replaced +-1 k", "replaced ++1 k", "replaced +99999999999999999999 k", "replaced +1.5 k", "changed", "replaced +1 k\x00",
		"replaced +1 k\nk", "replaced +1 \x7f", "replaced 1 k", "replaced +1 " + strings.Repeat("k", entry.MostAnnounced+1),
	} {
		if key, created, ok := readAnnouncement(message); ok {
			t.Errorf("%q was read: %q %v", message, key, created)
		}
	}
	for _, key := range []string{"", "k\x00", strings.Repeat("k", entry.MostAnnounced+1)} {
		if announceable(key) {
			t.Errorf("%q is announced", key)
		}
	}
}

func FuzzAnnouncement(f *testing.F) {
	f.Add("replaced +1764000000123 ip:abc")
	f.Fuzz(func(t *testing.T, message string) {
		key, created, ok := readAnnouncement(message)
		if !ok {
			return
		}
		again := fmt.Sprint("replaced +", created.UnixMilli(), " ", key)
		if k, c, ok := readAnnouncement(again); k != key || !c.Equal(created) || !ok {
			t.Errorf("%q became %q", message, again)
		}
	})
}

// ear is an instance that listens.
type ear struct {
	*Tier
	mu     sync.Mutex
	said   []string
	missed atomic.Int64 // how often it has begun to hear
	deaf   atomic.Int64 // how often it hears nothing from then on
}

// listen opens an instance, and returns once it is subscribed.
func listen(t *testing.T, url string, change ...func(*Config)) *ear {
	t.Helper()
	e := &ear{Tier: open(t, url, append([]func(*Config){func(c *Config) { c.Timeout = time.Second }}, change...)...)}
	ctx, stop := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		e.Listen(ctx,
			func(key string, at time.Time) { e.hear(announcement(key, at)) },
			func(hears bool) {
				if hears {
					e.missed.Add(1)
				} else {
					e.deaf.Add(1)
				}
			})
	})
	t.Cleanup(func() { stop(); done.Wait() })
	waittest.Until(t, "the subscription", e.listening)
	return e
}

// announcement is what an ear keeps of an announcement: the date to ten seconds, as instances
// agree on the clock of Redis to the time that a round trip takes.
func announcement(key string, at time.Time) string {
	return fmt.Sprint("marked ", key, " ", at.Round(10*time.Second).Unix())
}

func (e *ear) hear(what string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, what)
}

// heard forgets what it returns.
func (e *ear) heard() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	said := e.said
	e.said = nil
	return said
}

func (e *ear) listening() bool { return testutil.ToFloat64(e.metrics.listening) == 1 }

func (e *ear) counted(result string) float64 {
	return testutil.ToFloat64(e.metrics.announcements.WithLabelValues(result))
}

// hears waits until it has heard that and nothing else, in any order: in a Cluster the
// messages come from several nodes.
func (e *ear) hears(t *testing.T, want ...string) {
	t.Helper()
	var all []string
	waittest.Until(t, strings.Join(want, ", "), func() bool {
		all = append(all, e.heard()...)
		return len(all) >= len(want)
	})
	slices.Sort(all)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Errorf("heard %q, want %q", all, want)
	}
}

// TestMarksAreHeardOnceTheyAreThere, by all instances that use this database, with the one that announced it. Nothing else is announced.
func TestMarksAreHeardOnceTheyAreThere(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		one, two, three := listen(t, url), listen(t, url), listen(t, strings.TrimSuffix(url, "/0")+"/1")
		for i := range 20 {
			at := time.Unix(int64(1_764_000_000+60*i), 0)
			one.set(fmt.Sprint("other ", i), []byte("x"), time.Minute)
			one.add("another", []byte("x"), time.Minute)
			one.Fail("k", []byte("x"), time.Minute)
			one.del("another")
			one.Share("shared", at, false, 1, ready([]byte("x"), time.Minute), nil)
			one.mark("k", at)
			said := announcement("k", at)
			two.hears(t, said)
			if found := two.Look(t.Context(), "k", 0); announcement("k", found.Created) != said {
				t.Fatalf("told of %s, and found one of %v", said, found.Created)
			}
			one.hears(t, said)
		}
		if n := three.counted("received"); n != 0 {
			t.Errorf("%v of another database's announcements", n)
		}
		if one.counted("sent") != 20 || two.counted("received") != 20 || two.counted("sent") != 0 {
			t.Errorf("counted %v and %v", one.counted("sent"), two.counted("received"))
		}
	})
}

// TestForeignMessagesAreCountedAndIgnored.
func TestForeignMessagesAreCountedAndIgnored(t *testing.T) {
	server := redistest.Start(t)
	tier := listen(t, server.URL())
	for i, message := range []string{"hello", `"replaced "`, `"replaced 1 k"`, `"\x00\xff"`} {
		server.Must("PUBLISH sundry:announcements:0 " + message)
		waittest.Until(t, message, func() bool { return tier.counted("invalid") == float64(i+1) })
	}
	at := time.UnixMilli(1_764_000_000_123)
	server.Must(fmt.Sprintf(`PUBLISH sundry:announcements:0 "replaced +%d k"`, at.UnixMilli()))
	tier.hears(t, announcement("k", at))
}

// TestListeningSurvivesAnOutage, and says that it does not hear meanwhile.
func TestListeningSurvivesAnOutage(t *testing.T) {
	server := redistest.Start(t)
	one, two := listen(t, server.URL()), listen(t, server.URL())
	for i, blow := range []func(){
		func() { server.Must("CLIENT KILL TYPE pubsub") },
		func() {
			server.Stop()
			waittest.Until(t, "the outage to be noticed", func() bool { return !two.listening() })
			server.Restart()
		},
	} {
		missed := two.missed.Load()
		blow()
		waittest.Until(t, "the announcements", func() bool {
			one.mark(fmt.Sprint("k", i), nextDate())
			return slices.ContainsFunc(two.heard(), func(said string) bool { return strings.HasPrefix(said, fmt.Sprint("marked k", i)) })
		})
		if n := int64(i + 2); !two.listening() || two.missed.Load() < n || two.deaf.Load() < n {
			t.Errorf("it says that it heard %d times, and not %d times", two.missed.Load(), two.deaf.Load())
		}
		if n := two.missed.Load(); n <= missed {
			t.Error("nobody was told that announcements were missed")
		}
	}
}

// TestListeningToADeadRedisEnds, with its context.
func TestListeningToADeadRedisEnds(t *testing.T) {
	tier := open(t, "redis://127.0.0.1:1")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	never := func() { t.Error("announced by nobody") }
	tier.Listen(ctx, func(string, time.Time) { never() }, func(hears bool) {
		if hears {
			never()
		}
	})
}

// TestWithoutTheRightToPublish values are written and leases released.
func TestWithoutTheRightToPublish(t *testing.T) {
	server := redistest.Start(t)
	server.Must("ACL SETUSER quiet on >s3cret ~* +@all resetchannels")
	two := listen(t, server.URL())
	one := &ear{Tier: open(t, "redis://quiet:s3cret@"+server.Addr+"/0", unhurried)}
	_, release := one.Lease(t.Context(), "k", time.Minute)
	one.mark("k", time.UnixMilli(1))
	release()
	waittest.Until(t, "the mark and the release", func() bool {
		f := two.Look(t.Context(), "k", 0)
		return string(f.Value) == "g" && !f.Leased
	})
	waittest.Until(t, "the count", func() bool { return one.counted("failed") == 1 })
	if said := two.heard(); len(said) != 0 {
		t.Errorf("heard %q", said)
	}
}
