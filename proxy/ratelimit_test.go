package proxy

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
)

// TestRateLimitFields: answers have the RateLimit fields if few or no requests
// remain, and only then.
func TestRateLimitFields(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.01, Burst: 5} })
	for i, row := range []struct {
		status int
		limit  string
	}{{200, ""}, {200, ""}, {200, ""}, {200, `"default";r=1;t=`}, {200, `"default";r=0;t=`}, {429, `"default";r=0;t=`}} {
		a := f.get("/api/simple")
		a.want(t, row.status)
		got := a.Header.Get("RateLimit")
		if row.limit == "" && got != "" || !strings.HasPrefix(got, row.limit) {
			t.Errorf("request %d: RateLimit: %q, want %q", i, got, row.limit)
		}
		if got == "" {
			continue
		}
		a.header(t, "RateLimit-Policy", `"default";q=5;w=500`)
		if after := a.Header.Get("Retry-After"); row.status == http.StatusTooManyRequests && !strings.HasSuffix(got, ";t="+after) {
			t.Errorf("RateLimit: %q, Retry-After: %q: not the same time", got, after)
		}
	}
}

// TestRateLimitFieldsOfOtherAnswers: errors and preflights have them too.
func TestRateLimitFieldsOfOtherAnswers(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, func(c *Config, _ *upstreams.Environment) { c.Limits = Limits{Rate: 0.001, Burst: 10} })
	for range 7 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
	for i, a := range []answer{
		f.get("/api/simple?id=x"), f.do(t.Context(), http.MethodOptions, "/api/simple"), f.do(t.Context(), http.MethodHead, "/api/simple"),
	} {
		a.header(t, "RateLimit", fmt.Sprintf(`"default";r=%d;t=`, 2-i))
		a.header(t, "RateLimit-Policy", `"default";q=10;w=`)
	}
}

// TestRateLimitBehindProxies: clients behind a trusted proxy are limited each on
// their own, the proxy is not; one that is not trusted is named in the log.
func TestRateLimitBehindProxies(t *testing.T) {
	up, logged := newFake(t, `{"v":"x"}`), &lines{}
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)}, trusting("127.0.0.0/8"), func(c *Config, _ *upstreams.Environment) {
		c.Limits, c.Log = Limits{Rate: 0.01, Burst: 1}, slog.New(slog.NewTextHandler(logged, nil))
	})
	for range 3 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
	for _, who := range []string{"198.51.100.1", "198.51.100.2"} {
		f.get("/api/simple", "X-Forwarded-For", who).want(t, http.StatusOK)
		f.get("/api/simple", "X-Forwarded-For", who).want(t, http.StatusTooManyRequests)
	}
	const hint = "looks like a proxy"
	if text := logged.String(); strings.Contains(text, hint) {
		t.Error("the log warns of a trusted proxy")
	}
	if err := f.server.Reload(f.server.Catalog(), Settings{Limits: Limits{Rate: 0.02, Burst: 1}}); err != nil {
		t.Fatal(err)
	}
	f.get("/api/simple", "X-Forwarded-For", "198.51.100.1").want(t, http.StatusOK)
	for range 3 {
		f.get("/api/simple", "X-Forwarded-For", "198.51.100.2").want(t, http.StatusTooManyRequests)
	}
	if n := strings.Count(logged.String(), hint); n != 1 {
		t.Errorf("a proxy that is not trusted is named %d times", n)
	}
}

func TestClientsAreHeldToTheirRate(t *testing.T) {
	type call struct {
		at   time.Duration
		who  string
		ok   bool
		left int64
		more time.Duration
	}
	const a, b = "192.0.2.1", "192.0.2.2"
	rows := map[string]struct {
		limits Limits
		calls  []call
	}{
		"a burst, then the rate": {Limits{Rate: 2, Burst: 3}, []call{
			{0, a, true, 2, 500 * time.Millisecond}, {0, a, true, 1, 500 * time.Millisecond}, {0, a, true, 0, 500 * time.Millisecond},
			{0, a, false, 0, 500 * time.Millisecond}, {400 * time.Millisecond, a, false, 0, 100 * time.Millisecond},
			{500 * time.Millisecond, a, true, 0, 500 * time.Millisecond}, {600 * time.Millisecond, a, false, 0, 400 * time.Millisecond},
		}},
		"what is refused costs nothing": {Limits{Rate: 1, Burst: 1}, []call{
			{0, a, true, 0, time.Second}, {0, a, false, 0, time.Second}, {0, a, false, 0, time.Second}, {time.Second, a, true, 0, time.Second},
		}},
		"who waits has all of it back": {Limits{Rate: 1, Burst: 2}, []call{
			{0, a, true, 1, time.Second}, {0, a, true, 0, time.Second}, {time.Hour, a, true, 1, time.Second}, {time.Hour, a, true, 0, time.Second}, {time.Hour, a, false, 0, time.Second},
		}},
		"each for itself": {Limits{Rate: 1, Burst: 1}, []call{{0, a, true, 0, time.Second}, {0, b, true, 0, time.Second}, {0, a, false, 0, time.Second}}},
		"IPv6 by its /64": {Limits{Rate: 1, Burst: 1}, []call{
			{0, "2001:db8::1", true, 0, time.Second}, {0, "2001:db8::ffff:2", false, 0, time.Second}, {0, "2001:db8:0:1::1", true, 0, time.Second},
		}},
		"IPv4 however it is written": {Limits{Rate: 1, Burst: 1}, []call{{0, a, true, 0, time.Second}, {0, "::ffff:192.0.2.1", false, 0, time.Second}}},
		"four seconds of the rate, where no burst is set": {Limits{Rate: 0.5}, []call{
			{0, a, true, 1, 2 * time.Second}, {0, a, true, 0, 2 * time.Second}, {0, a, false, 0, 2 * time.Second},
		}},
		"the least rate and the most burst": {Limits{Rate: 0.001, Burst: math.MaxInt}, []call{{0, a, true, 2_305_842, 1000 * time.Second}}},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			c := newRateLimiter(row.limits)
			for i, call := range row.calls {
				got := c.allow(netip.MustParseAddr(call.who), c.epoch.Add(call.at))
				if got.ok != call.ok || got.remaining != call.left || got.next != call.more {
					t.Errorf("call %d: %+v, want %+v", i, got, call)
				}
			}
		})
	}
	if a := (*rateLimiter)(nil).allow(netip.Addr{}, time.Now()); !a.ok || a.low {
		t.Errorf("without a rate: %+v", a)
	}
}

// TestAFloodOfAddressesIsBounded: a million clients take no more memory than the
// table, and a client that is refused stays refused.
func TestAFloodOfAddressesIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := newRateLimiter(Limits{Rate: 0.01, Burst: 3})
	greedy, now := netip.MustParseAddr("192.0.2.1"), c.epoch
	for range 3 {
		c.allow(greedy, now)
	}
	var b [16]byte
	b[0] = 0x20
	for i := range uint64(1_000_000) {
		binary.BigEndian.PutUint64(b[1:], i<<8)
		now = now.Add(10 * time.Microsecond)
		if !c.allow(netip.AddrFrom16(b), now).ok {
			t.Fatal("who comes for the first time is refused")
		}
	}
	if c.allow(greedy, now).ok {
		t.Error("a flood restored the burst of a client")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 6<<20 {
		t.Errorf("a million clients take %d MiB", grown>>20)
	}
	if n := c.count(now); n == 0 || n > limiterShards*limiterBuckets*limiterWays {
		t.Errorf("%d clients are known", n)
	}
	if n := c.count(now.Add(time.Hour)); n != 0 {
		t.Errorf("the bursts of %d clients are not restored after an hour", n)
	}
}

// TestOrdinaryCallersAreNotForgotten: at the default rate a hundred thousand active
// clients do not evict each other.
func TestOrdinaryCallersAreNotForgotten(t *testing.T) {
	c := newRateLimiter(Limits{Rate: 1, Burst: 2})
	var b [4]byte
	for round, ok := range []bool{true, true, false} {
		wrong := 0
		for i := range uint32(100_000) {
			binary.BigEndian.PutUint32(b[:], i)
			if c.allow(netip.AddrFrom4(b), c.epoch).ok != ok {
				wrong++
			}
		}
		if wrong > 1000 {
			t.Errorf("round %d: %d are treated as if they were others", round, wrong)
		}
	}
}

func BenchmarkClients(b *testing.B) {
	c := newRateLimiter(Limits{Rate: 50})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var a [4]byte
		for i := uint32(0); pb.Next(); i++ {
			binary.BigEndian.PutUint32(a[:], i)
			c.allow(netip.AddrFrom4(a), c.epoch.Add(time.Duration(i)))
		}
	})
}
