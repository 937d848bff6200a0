package host

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/far"
	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// patience is a fleet of which the first call is asked impatiently, and the others not.
type patience struct {
	impatient, patient *far.Tier
	asked              atomic.Int64
}

func (p *patience) TakeQuota(ctx context.Context, name string, bounds []Bound) (time.Duration, int, error) {
	if p.asked.Add(1) == 1 {
		return p.impatient.TakeQuota(ctx, name, bounds)
	}
	return p.patient.TakeQuota(ctx, name, bounds)
}

// TestAPausedRedisGrantsNothingTwice: one call gives up on Redis and is made, another waits
// until it goes on, and is granted.
func TestAPausedRedisGrantsNothingTwice(t *testing.T) {
	server := redistest.Start(t)
	fleet := &patience{impatient: openTier(t, server, 100*time.Millisecond), patient: openTier(t, server, time.Minute)}
	all := Quotas{Fleet: fleet}
	q := all.Get("a.example.org", 1, time.Hour)
	server.Must("CLIENT PAUSE 60000 WRITE")
	alone, together := make(chan bool), make(chan bool)
	go func() { alone <- q.Take(t.Context(), time.Now()) }()
	waittest.Until(t, "the first call is asked for", func() bool { return fleet.asked.Load() == 1 })
	go func() { together <- q.Take(t.Context(), time.Now()) }()
	waittest.Until(t, "the second call is asked for", func() bool { return fleet.asked.Load() == 2 })
	if !<-alone {
		t.Error("without Redis this instance may not call")
	}
	server.Must("CLIENT UNPAUSE")
	if <-together {
		t.Error("a grant of Redis is used beside a call of this instance alone")
	}
	if n := server.Must(`LLEN "sundry:quota:` + q.Name() + `"`); n != ":1\r\n" {
		t.Errorf("Redis counted %q calls, want 1: the second was not granted", n)
	}
}

func openTier(t *testing.T, server *redistest.Server, timeout time.Duration) *far.Tier {
	t.Helper()
	tier, err := far.Open(far.Config{URL: server.URL(), Timeout: timeout}, prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tier.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tier
}
