package far

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// reported reads the clock of Redis, and returns the keys of what it has lost.
func reported(t *testing.T, tier *Tier) (keys []string) {
	t.Helper()
	tier.OnLoss(func(key string, _ time.Time) { keys = append(keys, key) })
	if _, err := tier.SharedValue("settings").ClockOffset(t.Context()); err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return keys
}

func wantReported(t *testing.T, tier *Tier, want ...string) {
	t.Helper()
	if got := reported(t, tier); !slices.Equal(got, want) {
		t.Errorf("reported as lost: %q, want %q", got, want)
	}
}

func TestAnEmptiedRedisIsNoticed(t *testing.T) {
	server := redistest.Start(t)
	one, two := open(t, server.URL(), unhurried), open(t, server.URL(), unhurried)
	for range 2 {
		wantReported(t, one)
		wantReported(t, two)
	}
	server.Must("FLUSHALL")
	for _, tier := range []*Tier{one, two} {
		wantReported(t, tier, "")
		wantReported(t, tier)
	}
}

// TestWritesThatWereGivenUpAreReported once Redis takes writes again.
func TestWritesThatWereGivenUpAreReported(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), unhurried)
	wantReported(t, tier)
	write := func(keys int) {
		for n := range keys {
			tier.set(fmt.Sprint("k", n), []byte("value"), time.Minute)
		}
		waittest.Until(t, "the writes", func() bool { all, _ := tier.queue.waiting(); return all == 0 })
	}
	server.Must("CONFIG SET maxmemory 1")
	write(2)
	wantReported(t, tier)
	server.Must("CONFIG SET maxmemory 0")
	wantReported(t, tier, "k0", "k1")
	wantReported(t, tier)
	server.Must("CONFIG SET maxmemory 1")
	write(mostLost + 1)
	server.Must("CONFIG SET maxmemory 0")
	wantReported(t, tier, "")
}

// TestAStrangersTextIsNoLoss, whatever it is, unless it changes.
func TestAStrangersTextIsNoLoss(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), unhurried)
	storeKey := tier.SharedValue("settings").sibling(storeName)
	for _, command := range []string{"SETRANGE " + storeKey + " 1000000 x", "PING", "DEL " + storeKey, "DEL " + storeKey + "\r\nLPUSH " + storeKey + " x"} {
		server.Must(command)
		reported(t, tier)
		wantReported(t, tier)
	}
}
