package far

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/jitter"
)

// longest is the longest of many durations.
type longest struct{ ns atomic.Int64 }

func (l *longest) took(start time.Time) {
	d := int64(time.Since(start))
	for old := l.ns.Load(); d > old && !l.ns.CompareAndSwap(old, d); old = l.ns.Load() {
	}
}

// TestNoCallIsOverItsBudget, whatever happens to Redis meanwhile; afterwards all
// works again.
func TestNoCallIsOverItsBudget(t *testing.T) {
	t.Parallel()
	server, tier := started(t, func(c *Config) { c.Queue = 64 })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	// Calls that ask Redis, those that must not block, and by how much the machine itself is late.
	var waited, unwaited, late longest
	var callers sync.WaitGroup
	callers.Go(func() {
		for ctx.Err() == nil {
			start := time.Now()
			_ = jitter.Pause(ctx, time.Millisecond, 0)
			late.took(start)
		}
	})
	for c := range 8 {
		callers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				key := fmt.Sprint(c, "/", i%50)
				start := time.Now()
				tier.Look(ctx, key, 0)
				waited.took(start)
				start = time.Now()
				_, release := tier.Lease(ctx, key, time.Second)
				waited.took(start)
				start = time.Now()
				tier.set(key, make([]byte, 2000), time.Minute)
				tier.del(key)
				tier.Fail(key, []byte("record"), time.Second)
				release()
				unwaited.took(start)
				_ = jitter.Pause(ctx, time.Millisecond, 0)
			}
		})
	}
	blows := []func(){
		server.Freeze, server.Thaw, server.Stop, server.Restart,
		func() { _, _ = server.Do("CLIENT PAUSE 400 ALL") },
		func() { _, _ = server.Do("DEBUG SLEEP 0.3") },
		func() { _, _ = server.Do("CONFIG SET maxmemory 1") },
		func() { _, _ = server.Do("CLIENT KILL TYPE normal") },
		func() { _, _ = server.Do("CONFIG SET maxmemory 0") },
		server.Freeze, server.Stop, server.Restart,
	}
	for _, blow := range blows {
		blow()
		_ = jitter.Pause(ctx, 300*time.Millisecond, 0) // for the callers to feel it
	}
	stop()
	callers.Wait()
	machine := time.Duration(late.ns.Load())
	if d := time.Duration(waited.ns.Load()); d > 3*(tier.cfg.Timeout+machine) {
		t.Errorf("a call that asks Redis took %v, a millisecond %v", d, machine)
	}
	if d := time.Duration(unwaited.ns.Load()); d > tier.cfg.Timeout+machine {
		t.Errorf("calls that do not wait took %v, a millisecond %v", d, machine)
	}
	waittest.Until(t, "the queue to be empty", empty(tier))
	waittest.Until(t, "Redis is used again", func() bool {
		tier.set("after", []byte("v"), time.Minute)
		return tier.Look(t.Context(), "after", 0).Value != nil
	})
}
