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
		store := &board{}
		one, _ := newTuner(&line{board: store})
		two, at := newTuner(&line{board: store})
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
		late, fresh := newTuner(&line{board: store})
		go late.Run(ctx)
		synctest.Wait()
		if fresh.last()["ip"]["ttl"] != "1h" || len(fresh.orders()) != 0 {
			t.Errorf("an instance that came later: %v, orders of before its time %v", fresh.last(), fresh.orders())
		}
		stop()
		synctest.Wait()
	})
}

func TestChangesEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tuner, at := newTuner(&File{})
		ctx, stop := context.WithCancel(t.Context())
		go tuner.Run(ctx)
		synctest.Wait()
		if _, err := tuner.Change(ctx, ttl("1h", 10*time.Minute)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if at.last()["ip"]["ttl"] != "1h" {
			t.Errorf("ended early: %v", at.last())
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if len(at.last()) != 0 {
			t.Errorf("did not end: %v", at.last())
		}
		stop()
		synctest.Wait()
	})
}

func TestLostSettingsAreStoredAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &line{board: &board{}}
		tuner, _ := newTuner(store)
		ctx, stop := context.WithCancel(t.Context())
		go tuner.Run(ctx)
		synctest.Wait()
		if _, err := tuner.Change(ctx, ttl("1h", 0)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		store.put(nil) // as a flushed Redis
		time.Sleep(2 * pollEvery)
		synctest.Wait()
		if b, err := store.board.Load(ctx); err != nil || len(b) == 0 {
			t.Errorf("%s %v", b, err)
		}
		if s, err := tuner.Change(ctx, ttl("2h", 0)); err != nil || s.Seq != 2 {
			t.Errorf("%+v %v", s, err)
		}
		stop()
		synctest.Wait()
	})
}

// TestNothingChangesThatIsNotKept: the store takes no writes, or the change is a
// mistake, whether the store is there or not.
func TestNothingChangesThatIsNotKept(t *testing.T) {
	store := &line{board: &board{}, readOnly: true}
	tuner, at := newTuner(store)
	if _, err := tuner.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrStore) {
		t.Errorf("%v", err)
	}
	if len(at.live) != 0 {
		t.Errorf("applied although it was not kept: %v", at.live)
	}
	away := tunerWith(&line{board: &board{}, down: true}, func(map[string]map[string]string) error { return errors.New("does not compile") }, at)
	if _, err := away.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrRefused) || len(at.live) != 0 || away.Waiting() != 0 {
		t.Errorf("%v %v", err, at.live)
	}
	refusing := tunerWith(&File{}, func(map[string]map[string]string) error { return errors.New("does not compile") }, at)
	if _, err := refusing.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrRefused) || len(at.live) != 0 {
		t.Errorf("%v %v", err, at.live)
	}
}

func TestConcurrentChangesAllCount(t *testing.T) {
	store := &File{}
	var wg sync.WaitGroup
	for range 4 {
		tuner, _ := newTuner(store)
		wg.Go(func() {
			for range 5 {
				for {
					_, err := tuner.Change(t.Context(), Change{Do: "reset", Target: "h"})
					if err == nil {
						break
					}
					if !errors.Is(err, ErrStore) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	tuner, _ := newTuner(store)
	if err := tuner.look(t.Context()); err != nil {
		t.Error(err)
	}
	if s := tuner.Settings(); s.Seq != 20 || len(s.Audit) != 20 {
		t.Errorf("%d changes of 20 were kept", s.Seq)
	}
}
