package far

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/upstreams/lib/waittest"
)

// TestAValueKeepsItsTimeUntilTheClockIsKnown: a value whose first writes fail, before this instance knows how far the clock of Redis is
// behind, is not dated when it is written at last. It would be newer than a purge in between.
func TestAValueKeepsItsTimeUntilTheClockIsKnown(t *testing.T) {
	t.Parallel()
	const behind = time.Minute
	redis := miniredis.RunT(t)
	redis.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "TIME" {
			return false
		}
		now := time.Now().Add(-behind)
		c.WriteLen(2)
		c.WriteBulk(strconv.FormatInt(now.Unix(), 10))
		c.WriteBulk(strconv.Itoa(now.Nanosecond() / 1000))
		return true
	})
	var away atomic.Bool
	var lost atomic.Int64
	away.Store(true)
	tier, err := Open(Config{URL: "redis://" + redis.Addr(), OpenFor: 50 * time.Millisecond, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		if away.Load() {
			lost.Add(1)
			silent, other := net.Pipe()
			go func() { _, _ = other.Read(make([]byte, 1<<16)); _ = silent.Close() }() // what is sent is lost
			return silent, nil
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tier.Close(context.Background()) })
	created := time.Now()
	tier.Set("k", created, false, 1, ready([]byte("value"), time.Hour))
	waittest.Until(t, "some attempts", func() bool { return lost.Load() >= 4 && time.Since(created) > 300*time.Millisecond })
	away.Store(false)
	waittest.Until(t, "the write", empty(tier))
	found := tier.Look(t.Context(), "k", 0)
	if off := found.Created.Sub(created).Abs(); string(found.Value) != "value" || off > 100*time.Millisecond {
		t.Errorf("%q was created %s apart", found.Value, off)
	}
}
