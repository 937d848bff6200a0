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
	synctest.Test(t, func(t *testing.T) {
		store := &sharedStore{}
		one, _ := newReplicator(&connection{sharedStore: store})
		two, at := newReplicator(&connection{sharedStore: store})
		ctx, stop := context.WithCancel(t.Context())
		go one.Run(ctx)
		go two.Run(ctx)
		synctest.Wait()
		if _, err := one.Change(ctx, ttl("1h", 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Change(ctx, Change{Do: "reset", Target: "h"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if at.last()["ip"]["ttl"] != "1h" || len(at.orders()) != 1 {
			t.Errorf("the other instance: %v, orders %v", at.last(), at.orders())
		}
		late, fresh := newReplicator(&connection{sharedStore: store})
		go late.Run(ctx)
		synctest.Wait()
		if fresh.last()["ip"]["ttl"] != "1h" || len(fresh.orders()) != 0 {
			t.Errorf("an instance that starts later: %v, orders from before its start %v", fresh.last(), fresh.orders())
		}
		stop()
		synctest.Wait()
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
	synctest.Test(t, func(t *testing.T) {
		store := &connection{sharedStore: &sharedStore{}}
		replicator, _ := newReplicator(store)
		ctx, stop := context.WithCancel(t.Context())
		go replicator.Run(ctx)
		synctest.Wait()
		if _, err := replicator.Change(ctx, ttl("1h", 0)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		store.put(nil) // as a flushed Redis
		time.Sleep(2 * pollInterval)
		synctest.Wait()
		if b, err := store.sharedStore.Load(ctx); err != nil || len(b) == 0 {
			t.Errorf("%s %v", b, err)
		}
		if s, err := replicator.Change(ctx, ttl("2h", 0)); err != nil || s.Seq != 2 {
			t.Errorf("%+v %v", s, err)
		}
		stop()
		synctest.Wait()
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
