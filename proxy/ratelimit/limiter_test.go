package ratelimit

import (
	"encoding/binary"
	"math"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type limits struct {
	rate  float64
	burst int
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
		limits limits
		calls  []call
	}{
		"a burst, then the rate": {limits{2, 3}, []call{
			{0, a, true, 2, 500 * time.Millisecond}, {0, a, true, 1, 500 * time.Millisecond}, {0, a, true, 0, 500 * time.Millisecond},
			{0, a, false, 0, 500 * time.Millisecond}, {400 * time.Millisecond, a, false, 0, 100 * time.Millisecond},
			{500 * time.Millisecond, a, true, 0, 500 * time.Millisecond}, {600 * time.Millisecond, a, false, 0, 400 * time.Millisecond},
		}},
		"what is refused costs nothing": {limits{1, 1}, []call{
			{0, a, true, 0, time.Second}, {0, a, false, 0, time.Second}, {0, a, false, 0, time.Second}, {time.Second, a, true, 0, time.Second},
		}},
		"who waits has all of it back": {limits{1, 2}, []call{
			{0, a, true, 1, time.Second}, {0, a, true, 0, time.Second}, {time.Hour, a, true, 1, time.Second}, {time.Hour, a, true, 0, time.Second}, {time.Hour, a, false, 0, time.Second},
		}},
		"each for itself": {limits{1, 1}, []call{{0, a, true, 0, time.Second}, {0, b, true, 0, time.Second}, {0, a, false, 0, time.Second}}},
		"IPv6 by its /64": {limits{1, 1}, []call{
			{0, "2001:db8::1", true, 0, time.Second}, {0, "2001:db8::ffff:2", false, 0, time.Second}, {0, "2001:db8:0:1::1", true, 0, time.Second},
		}},
		"IPv4 however it is written": {limits{1, 1}, []call{{0, a, true, 0, time.Second}, {0, "::ffff:192.0.2.1", false, 0, time.Second}}},
		"four seconds of the rate, where no burst is set": {limits{0.5, 0}, []call{
			{0, a, true, 1, 2 * time.Second}, {0, a, true, 0, 2 * time.Second}, {0, a, false, 0, 2 * time.Second},
		}},
		"the least rate and the most burst": {limits{0.001, math.MaxInt}, []call{{0, a, true, 2_305_842, 1000 * time.Second}}},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			c := New(row.limits.rate, row.limits.burst)
			for i, call := range row.calls {
				got := c.Allow(netip.MustParseAddr(call.who), c.epoch.Add(call.at))
				if got.OK != call.ok || got.Remaining != call.left || got.Next != call.more {
					t.Errorf("call %d: %+v, want %+v", i, got, call)
				}
			}
		})
	}
	if a := (*Limiter)(nil).Allow(netip.Addr{}, time.Now()); !a.OK || a.Low {
		t.Errorf("without a rate: %+v", a)
	}
}

// TestAFloodOfAddressesIsBounded: a million clients take no more memory than the
// table, and a client that is refused stays refused.
func TestAFloodOfAddressesIsBounded(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	c := New(0.01, 3)
	greedy, now := netip.MustParseAddr("192.0.2.1"), c.epoch
	for range 3 {
		c.Allow(greedy, now)
	}
	var b [16]byte
	b[0] = 0x20
	for i := range uint64(1_000_000) {
		binary.BigEndian.PutUint64(b[1:], i<<8)
		now = now.Add(10 * time.Microsecond)
		if !c.Allow(netip.AddrFrom16(b), now).OK {
			t.Fatal("who comes for the first time is refused")
		}
	}
	if c.Allow(greedy, now).OK {
		t.Error("a flood restored the burst of a client")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 6<<20 {
		t.Errorf("a million clients take %d MiB", grown>>20)
	}
	if n := c.Clients(now); n == 0 || n > limiterShards*shardBuckets*bucketWays {
		t.Errorf("%d clients are known", n)
	}
	if n := c.Clients(now.Add(time.Hour)); n != 0 {
		t.Errorf("the bursts of %d clients are not restored after an hour", n)
	}
}

// TestOrdinaryCallersAreNotForgotten: at the default rate a hundred thousand active
// clients do not evict each other.
func TestOrdinaryCallersAreNotForgotten(t *testing.T) {
	c := New(1, 2)
	var b [4]byte
	for round, ok := range []bool{true, true, false} {
		wrong := 0
		for i := range uint32(100_000) {
			binary.BigEndian.PutUint32(b[:], i)
			if c.Allow(netip.AddrFrom4(b), c.epoch).OK != ok {
				wrong++
			}
		}
		if wrong > 1000 {
			t.Errorf("round %d: %d are treated as if they were others", round, wrong)
		}
	}
}

func TestADecisionAllocatesNothing(t *testing.T) {
	c, who := New(1e9, 1e9), netip.MustParseAddr("192.0.2.1")
	if n := testing.AllocsPerRun(1000, func() { c.Allow(who, c.epoch) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkClients(b *testing.B) {
	c := New(50, 0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var a [4]byte
		for i := uint32(0); pb.Next(); i++ {
			binary.BigEndian.PutUint32(a[:], i)
			c.Allow(netip.AddrFrom4(a), c.epoch.Add(time.Duration(i)))
		}
	})
}
