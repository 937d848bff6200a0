package live

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
		if s := f.change(ttl("2h", 0)); s.Seq != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// TestNothingChangesThatIsNotStored: the store takes no writes, or the change is
// invalid, whether the store can be reached or not.
func TestNothingChangesThatIsNotStored(t *testing.T) {
	store := &connection{sharedStore: &sharedStore{}, readOnly: true}
	replicator, at := newReplicator(store)
	if _, err := replicator.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrNotStored) {
		t.Errorf("%v", err)
	}
	if len(at.cache) != 0 {
		t.Errorf("applied although it was not stored: %v", at.cache)
	}
	away := replicatorWith(&connection{sharedStore: &sharedStore{}, down: true}, func(map[string]map[string]string) error { return errors.New("does not compile") }, at)
	if _, err := away.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrInvalid) || len(at.cache) != 0 || away.Pending() != 0 {
		t.Errorf("%v %v", err, at.cache)
	}
	refusing := replicatorWith(&File{}, func(map[string]map[string]string) error { return errors.New("does not compile") }, at)
	if _, err := refusing.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrInvalid) || len(at.cache) != 0 {
		t.Errorf("%v %v", err, at.cache)
	}
}

func TestConcurrentChangesAllCount(t *testing.T) {
	store := &File{}
	var wg sync.WaitGroup
	for range 4 {
		replicator, _ := newReplicator(store)
		wg.Go(func() {
			for range 5 {
				for {
					_, err := replicator.Change(t.Context(), Change{Do: "reset", Target: "h"})
					if err == nil {
						break
					}
					if !errors.Is(err, ErrNotStored) {
						t.Error(err)
						return
					}
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
