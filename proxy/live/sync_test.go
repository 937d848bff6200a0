package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/policy"
	"sundry/metrics/panics"
)

// TestALostWatchIsRead: an instance that no longer hears of changes is not in sync until
// it has read the store, and tells when it is again; so it is when it hears again.
func TestALostWatchIsRead(t *testing.T) {
	withFleet(t, func(f *fleet) {
		returned := 0
		f.two.cfg.Returned = func() { returned++ }
		f.connTwo.away(true)
		f.connTwo.lost()
		if f.two.InSync() || testutil.ToFloat64(f.two.metrics.inSync) != 0 {
			t.Error("in sync, though it hears nothing")
		}
		f.change(ttl("1h", 0))
		f.after(time.Hour)
		if f.two.InSync() || returned != 0 {
			t.Errorf("in sync with a store that cannot be read; returned %d times", returned)
		}
		f.connTwo.away(false)
		f.connTwo.changed()
		f.after(0)
		if !f.two.InSync() || testutil.ToFloat64(f.two.metrics.inSync) != 1 || returned != 1 || f.appliedTwo.last()["ip"]["ttl"] != "1h" {
			t.Errorf("heard again: in sync %v, returned %d times, %v", f.two.InSync(), returned, f.appliedTwo.last())
		}
		f.connTwo.lost() // but the store can be read
		f.after(0)
		if !f.two.InSync() || returned != 2 {
			t.Errorf("in sync %v, returned %d times", f.two.InSync(), returned)
		}
		f.after(time.Hour)
		if returned != 2 {
			t.Errorf("returned %d times", returned)
		}
	})
}

// TestReadsAreBounded: neither a calm nor an outage makes many reads.
func TestReadsAreBounded(t *testing.T) {
	withFleet(t, func(f *fleet) {
		for name, row := range map[string]struct {
			fault func(*connection)
			every time.Duration
		}{
			"calm":   {func(c *connection) { c.down = false }, pollInterval},
			"outage": {func(c *connection) { c.down = true }, lastRetry},
		} {
			f.connTwo.inject(row.fault)
			before := f.connTwo.readCount()
			f.after(10 * time.Minute)
			if n, want := f.connTwo.readCount()-before, int(10*time.Minute/row.every); n < want/2 || n > want*3/2 {
				t.Errorf("%s: %d reads in ten minutes, want about %d", name, n, want)
			}
		}
	})
}

// TestAnOutageEndsWithinFourSeconds: a read that hangs for two seconds when the store returns, and the delay after it, take less.
func TestAnOutageEndsWithinFourSeconds(t *testing.T) {
	for failures := range 1000 {
		if d := syncDelay(1 + failures); d > 3500*time.Millisecond-2*time.Second {
			t.Fatalf("%s after %d failures", d, 1+failures)
		}
	}
}

// TestALostAnswerIsLookedUp: a change that was stored is not called refused, and
// an unconfirmed one is in force here and pending; it is not made twice.
func TestALostAnswerIsLookedUp(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.connOne.inject(func(c *connection) { c.silent = 1 })
		if s := f.change(ttl("1h", 0)); s.Seq != 1 {
			t.Errorf("%+v", s)
		}
		f.connOne.inject(func(c *connection) { c.silent, c.dies = 1, true })
		if s := f.change(ttl("2h", 0)); s.Seq != 2 || f.one.Pending() != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := f.one.Change(f.ctx, Change{Do: "reset", Target: "h"}); err != nil || f.one.Pending() != 2 {
			t.Errorf("a reset: %v", err)
		}
		f.connOne.inject(func(c *connection) { c.down = false })
		f.after(2 * pollInterval)
		if s := f.one.Settings(); s.Seq != 3 || len(s.Audit) != 3 || f.one.Pending() != 0 || len(f.appliedTwo.orders()) != 1 || f.appliedTwo.last()["ip"]["ttl"] != "2h" {
			t.Errorf("the change that was stored: %+v, %v", s, f.appliedTwo.last())
		}
	})
}

// rollBack changes the settings thrice, and some time later puts those after the first change
// back into the store.
func (f *fleet) rollBack(later time.Duration) {
	f.change(ttl("1h", 0))
	backup := f.stored()
	f.change(ttl("2h", 0))
	f.change(Change{Do: "purge", Target: "ip", Hard: true})
	f.after(later)
	f.connOne.put(backup)
}

// TestARolledBackStoreIsRestored: what was changed since stays in force, on every
// instance, and is stored beyond both.
func TestARolledBackStoreIsRestored(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.rollBack(time.Second)
		f.after(2 * pollInterval)
		for _, at := range []*Replicator{f.one, f.two} {
			if s := at.Settings(); s.Seq < 4 || s.ActiveCache(time.Now())["ip"]["ttl"] != "2h" || s.Purges["ip"].Hard.IsZero() {
				t.Errorf("%+v", s)
			}
			if n := testutil.ToFloat64(at.metrics.sequence); n != float64(f.one.Settings().Seq) {
				t.Errorf("sequence %v", n)
			}
		}
		if n := testutil.ToFloat64(f.one.metrics.restores) + testutil.ToFloat64(f.two.metrics.restores); n < 1 {
			t.Errorf("restored %v times", n)
		}
		late, at := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
		if err := late.FirstSync(f.ctx); err != nil || at.last()["ip"]["ttl"] != "2h" {
			t.Errorf("an instance that starts later: %v, %v", at.last(), err)
		}
	})
}

// TestAChangeIsNotMadeOnARolledBackStore: the next change comes before anybody
// noticed.
func TestAChangeIsNotMadeOnARolledBackStore(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.rollBack(time.Millisecond)
		s := f.change(Change{Do: "breaker", Target: "h", Force: "open"})
		if s.Seq != 5 || s.ActiveCache(time.Now())["ip"]["ttl"] != "2h" || s.Purges["ip"].Hard.IsZero() || s.Breakers["h"].Force != "open" {
			t.Errorf("%+v", s)
		}
		f.after(2 * pollInterval)
		if f.two.Settings().Seq != 5 {
			t.Errorf("the other instance: %+v", f.two.Settings())
		}
	})
}

// TestWhatCouldNotBeAppliedIsRetried, and orders are not given twice.
func TestWhatCouldNotBeAppliedIsRetried(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.appliedTwo.fail(errors.New("does not compile here"))
		f.change(ttl("1h", 0))
		f.change(Change{Do: "drop", Target: "ip", Key: "ip:k"})
		f.after(time.Minute)
		if len(f.appliedTwo.last()) != 0 || testutil.ToFloat64(f.two.metrics.failures) == 0 || !slices.Equal(f.appliedTwo.orders(), []int64{2}) {
			t.Errorf("%v, orders %v", f.appliedTwo.last(), f.appliedTwo.orders())
		}
		f.appliedTwo.fail(nil)
		f.after(2 * pollInterval)
		if f.appliedTwo.last()["ip"]["ttl"] != "1h" || !slices.Equal(f.appliedTwo.orders(), []int64{2}) {
			t.Errorf("%v, orders %v", f.appliedTwo.last(), f.appliedTwo.orders())
		}
	})
}

// TestOrdersOfAnOutage: an instance that was cut off carries out what was ordered
// meanwhile; where orders are no longer known, everything from before is purged.
func TestOrdersOfAnOutage(t *testing.T) {
	withFleet(t, func(f *fleet) {
		away := func(n int) {
			f.connTwo.inject(func(c *connection) { c.down = true })
			for range n {
				f.change(Change{Do: DoDrop, Target: "ip", Key: rand.Text()})
				f.after(time.Millisecond)
			}
			f.connTwo.inject(func(c *connection) { c.down = false })
			f.after(2 * pollInterval)
		}
		away(120)
		if n := len(f.appliedTwo.orders()); n != 120 || len(f.appliedTwo.purges()) != 0 {
			t.Errorf("%d orders of 120, purges %v", n, f.appliedTwo.purges())
		}
		away(300)
		oldest := f.one.Settings().floor
		if n := len(f.appliedTwo.orders()); n != 120+maxAudit || !f.appliedTwo.purges()[policy.AllEndpoints].Hard.Equal(oldest) {
			t.Errorf("%d orders, purges %v, want all before %v", n, f.appliedTwo.purges(), oldest)
		}
		if len(f.two.Settings().Purges) != 0 {
			t.Error("what this instance missed is purged on the others")
		}
	})
}

// TestAFirstSyncThatComesLate: an instance that has served without the settings does not know what
// was dropped meanwhile, nor one that has just started what was dropped before; that one has
// cached nothing yet but what is on its disk.
func TestAFirstSyncThatComesLate(t *testing.T) {
	withFleet(t, func(f *fleet) {
		early, atEarly := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
		f.after(time.Minute)
		for range 300 {
			f.change(Change{Do: DoDrop, Target: "ip", Key: rand.Text()})
			f.after(time.Millisecond)
		}
		just, atJust := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
		known := f.one.Settings().floor
		for _, r := range []*Replicator{early, just} {
			if err := r.FirstSync(f.ctx); err != nil || !r.DropsKnownSince().Equal(known) {
				t.Errorf("%v: drops are known since %v, want %v", err, r.DropsKnownSince(), known)
			}
		}
		if p := atEarly.purges()[policy.AllEndpoints].Hard; !p.Equal(known) || len(atEarly.orders()) != maxAudit {
			t.Errorf("who was there before: purged before %v, %d orders", p, len(atEarly.orders()))
		}
		if len(atJust.purges()) != 0 || len(atJust.orders()) != maxAudit {
			t.Errorf("who has just started: purges %v, %d orders", atJust.purges(), len(atJust.orders()))
		}
		if at := f.two.DropsKnownSince(); !at.IsZero() {
			t.Errorf("who was in sync all the time: %v", at)
		}
	})
}

func TestFirstSyncIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, _ := newReplicator(&connection{sharedStore: &sharedStore{}, down: true})
		ctx, stop := contextFor(t, 2*time.Second)
		defer stop()
		start := time.Now()
		if err := dead.FirstSync(ctx); !errors.Is(err, errAway) || time.Since(start) != 2*time.Second || dead.InSync() {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		short := &connection{sharedStore: &sharedStore{}, failing: 2}
		lame, _ := newReplicator(short)
		ctx, stop = contextFor(t, 2*time.Second)
		defer stop()
		if err := lame.FirstSync(ctx); err != nil || !lame.InSync() {
			t.Errorf("after two failures: %v", err)
		}
		short.inject(func(c *connection) { c.down = true })
		if err := lame.sync(ctx); err == nil || lame.InSync() {
			t.Errorf("in sync with an unreachable store: %v", err)
		}
	})
}

// TestAPanicIsAFailureLikeAnother: what operators changed is put into force once that
// works, orders included; until then the instance is not in sync.
func TestAPanicIsAFailureLikeAnother(t *testing.T) {
	for _, where := range []string{"purge", "apply"} {
		t.Run(where, func(t *testing.T) {
			withFleet(t, func(f *fleet) {
				var works atomic.Bool
				doPurge, doApply := f.two.cfg.Purge, f.two.cfg.Apply
				f.two.cfg.Purge = func(purges map[string]policy.Purge, orders []Order) {
					if !works.Load() && where == "purge" && len(orders) > 0 {
						panic("it failed")
					}
					doPurge(purges, orders)
				}
				f.two.cfg.Apply = func(e EffectiveSettings) error {
					if !works.Load() && where == "apply" && len(e.Cache) > 0 {
						panic("it failed")
					}
					return doApply(e)
				}
				f.change(ttl("1h", 0))
				ordered := f.change(Change{By: "test", Do: DoDrop, Target: "ip", Key: "ip/1"})
				f.after(time.Minute)
				if where == "purge" && f.two.InSync() {
					t.Error("in sync, though an order was not carried out")
				}
				if n := testutil.ToFloat64(f.two.metrics.failures); n < 5 || n > float64(time.Minute/lastRetry)*5/4 {
					t.Errorf("%v failures within a minute", n)
				}
				works.Store(true)
				f.after(2 * pollInterval)
				if !f.two.InSync() || f.appliedTwo.last()["ip"]["ttl"] != "1h" || !slices.Contains(f.appliedTwo.orders(), ordered.Seq) {
					t.Errorf("in sync %v, settings %v, orders %v", f.two.InSync(), f.appliedTwo.last(), f.appliedTwo.orders())
				}
			})
		})
	}
}

// TestAPanicOfTheLoopIsNotItsEnd: only the end says that what is pending is lost, and it does
// so even where it comes in the pause after a panic.
func TestAPanicOfTheLoopIsNotItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		caught := panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		var lines bytes.Buffer
		ctx, stop := context.WithCancel(t.Context())
		store := &failingClock{connection: &connection{sharedStore: &sharedStore{}}}
		r, _ := newReplicator(store)
		r.cfg.Panics, r.cfg.Log = caught, slog.New(slog.NewTextHandler(&lines, nil))
		store.before = func() {
			store.away(true)
			if _, err := r.Change(ctx, purgeIP); err != nil {
				t.Error(err)
			}
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			caught.Loop(ctx, panics.Settings, r.Run)()
		}()
		synctest.Wait()
		if r.Pending() != 1 || strings.Contains(lines.String(), "lost with this instance") {
			t.Errorf("it goes on, with %d pending, and says: %s", r.Pending(), lines.String())
		}
		stop()
		<-ended
		if n := strings.Count(lines.String(), "lost with this instance"); n != 1 {
			t.Errorf("in the end it says %d times that they are lost: %s", n, lines.String())
		}
	})
}

// failingClock is a store that panics when it is asked for the time.
type failingClock struct {
	*connection
	before func()
}

func (f *failingClock) ClockOffset(context.Context) (time.Duration, error) {
	f.before()
	panic("it failed")
}

// TestAWatchThatPanicsIsMadeAgain, and does not keep the loop beside it from its end.
func TestAWatchThatPanicsIsMadeAgain(t *testing.T) {
	withFleet(t, func(f *fleet) {
		caught := panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		store := &failingWatch{connection: f.connTwo}
		third, _ := newReplicator(store)
		third.cfg.Panics = caught
		ctx, stop := context.WithTimeout(f.ctx, time.Minute)
		defer stop()
		third.Run(ctx)
		if store.watches != 3 {
			t.Errorf("watched %d times, want again after each of two panics", store.watches)
		}
	})
}

type failingWatch struct {
	*connection
	watches int
}

func (f *failingWatch) Watch(ctx context.Context, _, _ func()) {
	if f.watches++; f.watches < 3 {
		panic("it failed")
	}
	<-ctx.Done()
}
