package far

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

func TestSharedValueIsSwappedOnce(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		one, two := open(t, url).SharedValue("settings"), open(t, url).SharedValue("settings")
		if v, err := one.Load(t.Context()); v != nil || err != nil {
			t.Fatalf("out of nothing: %q %v", v, err)
		}
		var won atomic.Int64
		var wg sync.WaitGroup
		for _, d := range []*SharedValue{one, two} {
			for range 10 {
				wg.Go(func() {
					if ok, err := d.CompareAndSwap(t.Context(), nil, []byte("v1")); err != nil {
						t.Error(err)
					} else if ok {
						won.Add(1)
					}
				})
			}
		}
		wg.Wait()
		if n := won.Load(); n != 1 {
			t.Errorf("%d of twenty swaps of the same value went through", n)
		}
		if ok, err := two.CompareAndSwap(t.Context(), []byte("v1"), []byte("v2")); !ok || err != nil {
			t.Errorf("a swap of the value that is there: %v %v", ok, err)
		}
		if v, err := one.Load(t.Context()); string(v) != "v2" || err != nil {
			t.Errorf("%q %v", v, err)
		}
	})
}

func TestAllWatchersAreNotified(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		one, two := open(t, url).SharedValue("settings"), open(t, url).SharedValue("settings")
		ctx, stop := context.WithCancel(t.Context())
		var notified, lost atomic.Int64
		var done sync.WaitGroup
		done.Go(func() { two.Watch(ctx, func() { notified.Add(1) }, func() { lost.Add(1) }) })
		waittest.Until(t, "the confirmation of the subscription", func() bool { return notified.Load() == 1 })
		if _, err := one.CompareAndSwap(t.Context(), nil, []byte("v")); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the notice of a change", func() bool { return notified.Load() == 2 })
		stop()
		done.Wait()
	})
}

// TestWatchSurvivesAnOutage: after it, watchers are notified, as changes may have been missed.
func TestWatchSurvivesAnOutage(t *testing.T) {
	server := redistest.Start(t)
	d := open(t, server.URL()).SharedValue("settings")
	ctx, stop := context.WithCancel(t.Context())
	var notified, lost atomic.Int64
	var done sync.WaitGroup
	done.Go(func() { d.Watch(ctx, func() { notified.Add(1) }, func() { lost.Add(1) }) })
	waittest.Until(t, "the watch", func() bool { return notified.Load() > 0 })
	server.Stop()
	if _, err := d.Load(t.Context()); err == nil {
		t.Error("a value from a dead Redis")
	}
	before := notified.Load()
	server.Restart()
	waittest.Until(t, "the watch after the outage", func() bool { return notified.Load() > before })
	if lost.Load() == 0 {
		t.Error("nobody was told of the outage")
	}
	stop()
	done.Wait()
}

func TestSharedValueOfADeadRedisFailsSoon(t *testing.T) {
	d := open(t, "redis://127.0.0.1:1").SharedValue("settings")
	start := time.Now()
	if _, err := d.CompareAndSwap(t.Context(), nil, []byte("v")); err == nil {
		t.Error("swapped in a Redis that is not there")
	}
	if took := time.Since(start); took > 2*sharedValueTime {
		t.Errorf("it took %v", took)
	}
}

// TestSharedValuesHaveTheirOwnTimeBudget: what is too slow for a request is not too
// slow for them.
func TestSharedValuesHaveTheirOwnTimeBudget(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	d := open(t, server.URL()).SharedValue("settings")
	if ok, err := d.CompareAndSwap(t.Context(), nil, []byte("v1")); !ok || err != nil {
		t.Fatal(ok, err)
	}
	calls := map[string]func() error{
		"Load": func() error {
			v, err := d.Load(t.Context())
			if string(v) != "v1" {
				t.Errorf("read %q", v)
			}
			return err
		},
		"CompareAndSwap": func() error { _, err := d.CompareAndSwap(t.Context(), []byte("v1"), []byte("v1")); return err },
		"Load on a new connection": func() error {
			_, err := open(t, server.URL()).SharedValue("settings").Load(t.Context())
			return err
		},
	}
	for name, call := range calls {
		server.Freeze()
		thaw := time.AfterFunc(500*time.Millisecond, server.Thaw)
		start := time.Now()
		if err := call(); err != nil {
			t.Errorf("%s while Redis slept for half a second: %v", name, err)
		}
		if took := time.Since(start); took < 400*time.Millisecond || took > sharedValueTime {
			t.Errorf("%s took %v", name, took)
		}
		thaw.Stop()
	}
}

// TestWatchNoticesSilence: a connection that is open but silent is given up, and a
// notice follows once Redis replies again, as changes may have been missed.
func TestWatchNoticesSilence(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	d := open(t, server.URL()).SharedValue("settings")
	d.pingAfter = 20 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	var notified, lost atomic.Int64
	var done sync.WaitGroup
	done.Go(func() { d.Watch(ctx, func() { notified.Add(1) }, func() { lost.Add(1) }) })
	waittest.Until(t, "the watch", func() bool { return notified.Load() == 1 })
	server.Freeze()
	thaw := time.AfterFunc(sharedValueTime+500*time.Millisecond, server.Thaw)
	defer thaw.Stop()
	waittest.Until(t, "a new subscription", func() bool { return notified.Load() == 2 })
	if lost.Load() != 1 {
		t.Errorf("lost %d times", lost.Load())
	}
	stop()
	done.Wait()
}

// TestAReadThatFailsRenewsTheSubscriptions, whose connections may be lost without having
// been closed: a watch does not wait for its own ping.
func TestAReadThatFailsRenewsTheSubscriptions(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	d := open(t, server.URL()).SharedValue("settings")
	d.pingAfter = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	var notified, lost atomic.Int64
	var done sync.WaitGroup
	done.Go(func() { d.Watch(ctx, func() { notified.Add(1) }, func() { lost.Add(1) }) })
	waittest.Until(t, "the watch", func() bool { return notified.Load() == 1 })
	if _, err := d.Load(t.Context()); err != nil || lost.Load() != 0 {
		t.Fatalf("a read that succeeds: %v, lost %d times", err, lost.Load())
	}
	server.Freeze()
	if _, err := d.Load(t.Context()); err == nil {
		t.Error("a value from a Redis that is frozen")
	}
	waittest.Until(t, "the end of the subscription", func() bool { return lost.Load() == 1 })
	server.Thaw()
	waittest.Until(t, "a new subscription", func() bool { return notified.Load() == 2 })
	stop()
	done.Wait()
}

// TestADamagedValueIsKept: what is repaired stands under another key afterwards, whatever it is;
// and nothing else is replaced.
func TestADamagedValueIsKept(t *testing.T) {
	t.Parallel()
	keeps := func(t *testing.T, url string) {
		d := open(t, url).SharedValue("settings")
		repair := func(damaged, value string, want bool) {
			t.Helper()
			if ok, err := d.Repair(t.Context(), []byte(damaged), []byte(value)); ok != want || err != nil {
				t.Errorf("%q for %q: %v %v", value, damaged, ok, err)
			}
		}
		repair("", "v", false) // there is nothing to repair
		for _, garbage := range []string{"garbage", "others"} {
			if err := d.tier.sharedValues.Set(t.Context(), d.key, garbage, 0).Err(); err != nil {
				t.Fatal(err)
			}
			repair("something else", "v", false)
			repair("", "v", false)
			repair(garbage, "v", true)
			if kept, err := d.tier.sharedValues.Get(t.Context(), d.Damaged()).Result(); kept != garbage || err != nil {
				t.Errorf("kept is %q, %v", kept, err)
			}
		}
		if v, err := d.Load(t.Context()); string(v) != "v" || err != nil {
			t.Errorf("%q %v", v, err)
		}
		d.tier.sharedValues.Del(t.Context(), d.key)
		d.tier.sharedValues.LPush(t.Context(), d.key, "item")
		if v, err := d.Load(t.Context()); v != nil || !errors.Is(err, ErrNotAValue) {
			t.Errorf("of a list: %q %v", v, err)
		}
		repair("garbage", "w", false)
		repair("", "w", true)
		if kind, err := d.tier.sharedValues.Type(t.Context(), d.Damaged()).Result(); kind != "list" || err != nil {
			t.Errorf("kept is a %s, %v", kind, err)
		}
		if v, err := d.Load(t.Context()); string(v) != "w" || err != nil {
			t.Errorf("%q %v", v, err)
		}
	}
	servers(t, keeps)
	t.Run("cluster", func(t *testing.T) { keeps(t, redistest.StartCluster(t, 3).URL()) })
}

// TestAFullRedisIsRepairedLater: until then what is damaged stays where it is.
func TestAFullRedisIsRepairedLater(t *testing.T) {
	server := redistest.Start(t)
	d := open(t, server.URL()).SharedValue("settings")
	for _, command := range []string{"SET sundry:settings garbage", "RPUSH sundry:settings garbage"} {
		server.Must("DEL sundry:settings")
		server.Must(command)
		server.Must("CONFIG SET maxmemory 1")
		before, _ := d.Load(t.Context())
		if ok, err := d.Repair(t.Context(), before, []byte("v")); ok || err == nil {
			t.Errorf("%v %v", ok, err)
		}
		if reply := server.Must("EXISTS sundry:settings"); !strings.Contains(reply, "1") {
			t.Errorf("%s: it is gone", command)
		}
		server.Must("CONFIG SET maxmemory 0")
		if ok, err := d.Repair(t.Context(), before, []byte("v")); !ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
	}
}

// TestTheClockOfRedis is told as entries are dated by it, however exactly that is known.
func TestTheClockOfRedis(t *testing.T) {
	t.Parallel()
	tells := func(t *testing.T, url string) {
		tier := open(t, url)
		off, err := tier.SharedValue("settings").ClockOffset(t.Context())
		if err != nil || off.Abs() > time.Minute || off != tier.clock.off() {
			t.Errorf("%v off, and of entries %v, %v", off, tier.clock.off(), err)
		}
		now := time.Now()
		tier.clock.read(now.Add(time.Hour), now, now) // as of another time
		if off, err = tier.SharedValue("settings").ClockOffset(t.Context()); err != nil || off.Abs() > time.Minute || off != tier.clock.off() {
			t.Errorf("once the clock was set: %v off, and of entries %v, %v", off, tier.clock.off(), err)
		}
	}
	servers(t, tells)
	t.Run("cluster", func(t *testing.T) { tells(t, redistest.StartCluster(t, 3).URL()) })
}
