package live

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache"
)

// TestAChangeArrivesWhateverIsLost on the way to an instance.
func TestAChangeArrivesWhateverIsLost(t *testing.T) {
	for name, row := range map[string]struct {
		lose   func(*connection)
		within time.Duration
	}{
		"nothing":                  {func(*connection) {}, 0},
		"the notice":               {func(c *connection) { c.deaf = true }, 2 * pollInterval},
		"the read after a notice":  {func(c *connection) { c.failing = 1 }, time.Second},
		"several reads":            {func(c *connection) { c.failing = 5 }, 5 * pollInterval},
		"the notice and six reads": {func(c *connection) { c.deaf, c.failing = true, 6 }, 6 * pollInterval},
	} {
		t.Run(name, func(t *testing.T) {
			withFleet(t, func(f *fleet) {
				f.connTwo.inject(row.lose)
				f.change(ttl("1h", 0))
				f.after(row.within)
				if f.appliedTwo.last()["ip"]["ttl"] != "1h" {
					t.Errorf("after %v: %v", row.within, f.appliedTwo.last())
				}
			})
		})
	}
}

func TestAChangeArrivesAfterAnOutage(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.connTwo.inject(func(c *connection) { c.down = true })
		f.change(ttl("1h", 0))
		f.after(time.Hour)
		if len(f.appliedTwo.last()) != 0 {
			t.Fatalf("through a dead connection: %v", f.appliedTwo.last())
		}
		f.connTwo.inject(func(c *connection) { c.down = false })
		f.after(2 * pollInterval)
		if f.appliedTwo.last()["ip"]["ttl"] != "1h" {
			t.Errorf("after the outage: %v", f.appliedTwo.last())
		}
	})
}

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
		for name, fault := range map[string]func(*connection){"calm": func(*connection) {}, "outage": func(c *connection) { c.down = true }} {
			f.connTwo.inject(fault)
			before := f.connTwo.readCount()
			f.after(10 * time.Minute)
			if n, want := f.connTwo.readCount()-before, int(10*time.Minute/pollInterval); n < want/2 || n > 3*want {
				t.Errorf("%s: %d reads in ten minutes, want about %d", name, n, want)
			}
		}
	})
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
		if _, err := f.one.Change(f.ctx, Change{Do: "reset", Target: "h"}); !errors.Is(err, ErrNotStored) {
			t.Errorf("an order that cannot wait: %v", err)
		}
		f.connOne.inject(func(c *connection) { c.down = false })
		f.after(2 * pollInterval)
		if s := f.one.Settings(); s.Seq != 2 || len(s.Audit) != 2 || f.one.Pending() != 0 || f.appliedTwo.last()["ip"]["ttl"] != "2h" {
			t.Errorf("the change that was stored: %+v, %v", s, f.appliedTwo.last())
		}
	})
}

// TestARolledBackStoreIsRestored: what was changed since stays in force, on every
// instance, and is stored beyond both.
func TestARolledBackStoreIsRestored(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.change(Change{Do: "purge", Target: "ip", Hard: true})
		f.after(time.Second)
		f.connOne.put(backup)
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
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.change(Change{Do: "purge", Target: "ip", Hard: true})
		f.after(time.Millisecond)
		f.connOne.put(backup)
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

// TestTwoHistoriesAreMerged: while one instance was cut off, the store was rolled back and
// the other, restarted, was given changes of the same numbers.
func TestTwoHistoriesAreMerged(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		if _, err := f.two.Change(f.ctx, ttl("2h", 0)); err != nil {
			t.Fatal(err)
		}
		f.connTwo.inject(func(c *connection) { c.down = true })
		f.connOne.put(backup)
		fresh, _ := newReplicator(f.connOne)
		for _, c := range []Change{{Do: "reset", Target: "h"}, {Do: "purge", Target: "60s"}, {Do: "drop", Target: "ip", Key: "ip:k"}} {
			if _, err := fresh.Change(f.ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		f.connTwo.inject(func(c *connection) { c.down = false })
		f.after(4 * pollInterval)
		one, two := f.one.Settings(), f.two.Settings()
		if !one.equals(two) || two.ActiveCache(time.Now())["ip"]["ttl"] != "2h" || two.Purges["60s"].Soft.IsZero() {
			t.Errorf("%+v\n%+v", one, two)
		}
		if len(f.appliedTwo.orders()) != 2 {
			t.Errorf("orders carried out on the instance that was cut off: %v", f.appliedTwo.orders())
		}
		before := f.one.Settings().Seq
		f.after(time.Hour)
		if n := f.one.Settings().Seq; n != before {
			t.Errorf("they do not converge: change %d became %d", before, n)
		}
	})
}

// TestARolledBackStoreThatIsReadOnlyChangesNothing: a replica that takes no
// writes.
func TestARolledBackStoreThatIsReadOnlyChangesNothing(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.after(time.Second)
		for _, conn := range []*connection{f.connOne, f.connTwo} {
			conn.inject(func(c *connection) { c.readOnly = true })
		}
		f.connOne.put(backup)
		if _, err := f.one.Change(f.ctx, ttl("3h", 0)); !errors.Is(err, ErrNotStored) {
			t.Errorf("%v", err)
		}
		f.after(time.Minute)
		if !f.two.InSync() {
			t.Error("not in sync, though the store has no purge that is not in force")
		}
		if f.appliedTwo.last()["ip"]["ttl"] != "2h" || testutil.ToFloat64(f.two.metrics.failures) == 0 {
			t.Errorf("%v", f.appliedTwo.last())
		}
	})
}

// TestAnUnmergedPurgeKeepsTheFarTierUnread: the store holds a purge that this
// instance has not applied, and takes no writes that would merge the two. As long as
// that lasts, the instance is not in sync.
func TestAnUnmergedPurgeKeepsTheFarTierUnread(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.change(ttl("3h", 0))
		f.after(time.Second)
		f.connTwo.inject(func(c *connection) { c.down = true })
		f.connOne.put(backup)
		fresh, _ := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
		if _, err := fresh.Change(f.ctx, Change{Do: DoPurge, Target: "60s", Hard: true}); err != nil {
			t.Fatal(err)
		}
		f.connTwo.inject(func(c *connection) { c.down, c.readOnly = false, true })
		f.connOne.inject(func(c *connection) { c.readOnly = true })
		f.after(2 * pollInterval)
		if f.two.InSync() && f.two.Settings().Purges["60s"].Hard.IsZero() {
			t.Error("in sync without the purge")
		}
		for _, conn := range []*connection{f.connOne, f.connTwo} {
			conn.inject(func(c *connection) { c.readOnly = false })
		}
		f.after(2 * pollInterval)
		if !f.two.InSync() || f.two.Settings().Purges["60s"].Hard.IsZero() {
			t.Errorf("after the store takes writes again: in sync %v, %+v", f.two.InSync(), f.two.Settings().Purges)
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
		drop := Change{Do: "drop", Target: "ip", Key: "ip:k"}
		away := func(n int) {
			f.connTwo.inject(func(c *connection) { c.down = true })
			for range n {
				f.change(drop)
			}
			f.connTwo.inject(func(c *connection) { c.down = false })
			f.after(2 * pollInterval)
		}
		away(120)
		if n := len(f.appliedTwo.orders()); n != 120 || len(f.appliedTwo.purges()) != 0 {
			t.Errorf("%d orders of 120, purges %v", n, f.appliedTwo.purges())
		}
		away(300)
		oldest := f.one.Settings().Audit[0].At
		if n := len(f.appliedTwo.orders()); n != 120+maxAudit || !f.appliedTwo.purges()[cache.AllEndpoints].Hard.Equal(oldest) {
			t.Errorf("%d orders, purges %v, want all before %v", n, f.appliedTwo.purges(), oldest)
		}
		if len(f.two.Settings().Purges) != 0 {
			t.Error("what this instance missed is purged on the others")
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
