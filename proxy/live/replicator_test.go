package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestChangesReachEveryInstance(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		f.change(Change{Do: DoReset, Target: "h"})
		f.after(0)
		if f.appliedTwo.last()["ip"]["ttl"] != "1h" || len(f.appliedTwo.orders()) != 1 {
			t.Errorf("the other instance: %v, orders %v", f.appliedTwo.last(), f.appliedTwo.orders())
		}
		late, at := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
		go late.Run(f.ctx)
		f.after(0)
		if at.last()["ip"]["ttl"] != "1h" || len(at.orders()) != 0 {
			t.Errorf("an instance that starts later: %v, orders from before its start %v", at.last(), at.orders())
		}
	})
}

func TestChangesExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicator, at := newReplicator(&File{})
		ctx, stop := context.WithCancel(t.Context())
		go replicator.Run(ctx)
		synctest.Wait()
		if _, err := replicator.Change(ctx, ttl("1h", 10*time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if at.last()["ip"]["ttl"] != "1h" {
			t.Errorf("expired early: %v", at.last())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(at.last()) != 0 {
			t.Errorf("did not expire: %v", at.last())
		}
		stop()
		synctest.Wait()
	})
}

func TestLostSettingsAreStoredAgain(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		f.after(0)
		f.connOne.put(nil) // as a flushed Redis
		f.after(2 * pollInterval)
		if b := f.stored(); len(b) == 0 {
			t.Error("nothing is stored")
		}
		if s := f.change(ttl("2h", 0)); s.Seq != 3 || s.Audit[1].Note != "the store was emptied" {
			t.Errorf("%+v", s)
		}
	})
}

// TestMistakesChangeNothing, whether the store can be reached or not.
func TestMistakesChangeNothing(t *testing.T) {
	for name, store := range map[string]Store{"reachable": &File{}, "away": &connection{sharedStore: &sharedStore{}, down: true}} {
		at := &applied{}
		replicator := replicatorWith(store, func(map[string]map[string]string) error { return errors.New("does not compile") }, at)
		for _, c := range []Change{ttl("1h", 0), {Do: "dance"}} {
			if _, err := replicator.Change(t.Context(), c); !errors.Is(err, ErrInvalid) || len(at.cache) != 0 || replicator.Pending() != 0 {
				t.Errorf("%s: %+v: %v %v", name, c, err, at.cache)
			}
		}
	}
}

// TestOrdersNeedNothingThatCompiles: purges, drops, resets and holds are in force on an
// instance with which the stored cache settings do not compile; changes of those are refused.
func TestOrdersNeedNothingThatCompiles(t *testing.T) {
	store, failed := &sharedStore{}, errors.New("does not compile")
	elsewhere, _ := newReplicator(&connection{sharedStore: store})
	if _, err := elsewhere.Change(t.Context(), ttl("1h", 0)); err != nil {
		t.Fatal(err)
	}
	at := &applied{fails: failed}
	replicator := replicatorWith(&connection{sharedStore: store}, func(map[string]map[string]string) error { return failed }, at)
	if err := replicator.sync(t.Context()); !errors.Is(err, failed) {
		t.Fatal(err)
	}
	for _, c := range []Change{purgeIP, {Do: DoDrop, Target: "ip", Key: "ip:k"}, {Do: DoReset, Target: "h"}, {Do: DoBreaker, Target: "h", Force: "open"}} {
		if _, err := replicator.Change(t.Context(), c); err != nil || replicator.Pending() > 0 {
			t.Errorf("%s: %v, %d pending", c.Do, err, replicator.Pending())
		}
	}
	if n := testutil.ToFloat64(replicator.metrics.sequence); n != 0 {
		t.Errorf("sequence %v, although the settings are not applied", n)
	}
	at.fail(nil)
	if err := replicator.sync(t.Context()); err != nil || testutil.ToFloat64(replicator.metrics.sequence) != 5 {
		t.Errorf("%v, sequence %v, want 5: all that is applied", err, testutil.ToFloat64(replicator.metrics.sequence))
	}
	at.fail(failed)
	if at.purges()["ip"].Hard.IsZero() || len(at.orders()) != 2 {
		t.Errorf("purges %v, orders %v", at.purges(), at.orders())
	}
	if _, err := replicator.Change(t.Context(), ttl("2h", 0)); !errors.Is(err, ErrInvalid) {
		t.Errorf("%v", err)
	}
}

// TestWhatExpectsAnotherChangeIsStoredOrRefused: nothing of it is pending.
func TestWhatExpectsAnotherChangeIsStoredOrRefused(t *testing.T) {
	never := time.Time{}
	c := ttl("1h", 0)
	c.Expected = &never
	store := &connection{sharedStore: &sharedStore{}, readOnly: true}
	replicator, at := newReplicator(store)
	if _, err := replicator.Change(t.Context(), c); !errors.Is(err, errAway) || len(at.last()) != 0 || replicator.Pending() != 0 {
		t.Errorf("%v %v", err, at.last())
	}
	store.inject(func(c *connection) { c.readOnly = false })
	if r, err := replicator.Change(t.Context(), c); err != nil || r.Seq != 1 || at.last()["ip"]["ttl"] != "1h" {
		t.Errorf("%+v %v %v", r, err, at.last())
	}
	if _, err := replicator.Change(t.Context(), c); !errors.Is(err, ErrOvertaken) {
		t.Errorf("again: %v", err)
	}
}

func TestConcurrentChangesAllCount(t *testing.T) {
	store := &File{}
	var wg sync.WaitGroup
	for range 4 {
		replicator, _ := newReplicator(store)
		wg.Go(func() {
			for range 5 {
				if _, err := replicator.Change(t.Context(), Change{Do: "reset", Target: "h"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	replicator, _ := newReplicator(store)
	if err := replicator.sync(t.Context()); err != nil {
		t.Error(err)
	}
	if s := replicator.Settings(); s.Seq != 20 || len(s.Audit) != 20 {
		t.Errorf("%d changes of 20 were stored", s.Seq)
	}
}
