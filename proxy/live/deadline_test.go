package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// hangingStore is a store that stops replying. Each of its calls gives up after two seconds, as those of far.SharedValue do.
type hangingStore struct {
	*connection
	replies atomic.Int64 // so many calls are answered from now on
}

func (s *hangingStore) hang(ctx context.Context) error {
	if s.replies.Add(-1) >= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	<-ctx.Done()
	return ctx.Err()
}

func (s *hangingStore) ClockOffset(ctx context.Context) (time.Duration, error) {
	return 0, s.hang(ctx)
}

func (s *hangingStore) Load(ctx context.Context) ([]byte, error) {
	if err := s.hang(ctx); err != nil {
		return nil, err
	}
	return s.connection.Load(ctx)
}

func (s *hangingStore) CompareAndSwap(ctx context.Context, old, value []byte) (bool, error) {
	if err := s.hang(ctx); err != nil {
		return false, err
	}
	return s.connection.CompareAndSwap(ctx, old, value)
}

// withHangingStore runs a story of an instance that is in sync, and whose store answers that many more calls. The clock of the
// store is read first.
func withHangingStore(t *testing.T, replies int64, story func(t *testing.T, r *Replicator, store *hangingStore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &hangingStore{connection: &connection{sharedStore: &sharedStore{}}}
		store.replies.Store(1 << 30)
		r, _ := newReplicator(store)
		if err := r.FirstSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.clockKnown.Store(false)
		store.replies.Store(replies)
		story(t, r, store)
	})
}

// whicheverCallHangs runs a story for each call after which the store replies no more.
func whicheverCallHangs(t *testing.T, story func(t *testing.T, r *Replicator, store *hangingStore)) {
	for name, replies := range map[string]int64{"the clock": 0, "the read": 1, "the write": 2} {
		t.Run(name, func(t *testing.T) { withHangingStore(t, replies, story) })
	}
}

// TestAChangeWaitsForAHangingStoreOnce: whichever call of the store hangs, and whoever has waited for it before, an operator waits for
// storeTime at most, and the change is pending. It meets later changes as one that could not be stored when it was made.
func TestAChangeWaitsForAHangingStoreOnce(t *testing.T) {
	whicheverCallHangs(t, func(t *testing.T, r *Replicator, store *hangingStore) {
		var changes sync.WaitGroup
		for range 3 {
			changes.Go(func() {
				began := time.Now()
				record, err := r.Change(t.Context(), purgeIP)
				_, pending := r.recordOf(record)
				if took := time.Since(began); err != nil || !pending || took > storeTime {
					t.Errorf("%v after %s, pending: %v", err, took, pending)
				}
			})
			time.Sleep(storeTime - 100*time.Millisecond)
		}
		changes.Wait()
		if r.InSync() {
			t.Error("in sync with a store that does not reply")
		}
		for _, c := range r.pending {
			if !c.waited {
				t.Errorf("%+v", c)
			}
		}
		store.replies.Store(1 << 30)
		if err := r.sync(t.Context()); err != nil || r.Pending() != 0 || r.Settings().Seq != 3 || !r.InSync() {
			t.Errorf("%v, %d pending, change %d", err, r.Pending(), r.Settings().Seq)
		}
	})
}

// TestAnExpectedChangeWaitsForAHangingStoreOnce, be it for the lock, and changes nothing.
func TestAnExpectedChangeWaitsForAHangingStoreOnce(t *testing.T) {
	whicheverCallHangs(t, func(t *testing.T, r *Replicator, _ *hangingStore) {
		var changes sync.WaitGroup
		for range 2 {
			changes.Go(func() {
				began, c := time.Now(), ttl("1h", 0)
				c.Expected = &time.Time{}
				_, err := r.Change(t.Context(), c)
				if took := time.Since(began); err == nil || errors.Is(err, ErrOvertaken) || took > storeTime {
					t.Errorf("%v after %s", err, took)
				}
			})
		}
		changes.Wait()
		if r.Pending() != 0 || r.Settings().Seq != 0 {
			t.Errorf("%d pending, change %d", r.Pending(), r.Settings().Seq)
		}
	})
}

// TestAChangeWhoseClientLeavesIsNotLate: nothing is known of the store then, so the change does not count as one that could not be
// stored when it was made.
func TestAChangeWhoseClientLeavesIsNotLate(t *testing.T) {
	for name, replies := range map[string]int64{"the read": 1, "the write": 2} {
		t.Run(name, func(t *testing.T) {
			withHangingStore(t, replies, func(t *testing.T, r *Replicator, _ *hangingStore) {
				ctx, leave := contextFor(t, time.Second)
				defer leave()
				if _, err := r.Change(ctx, purgeIP); err != nil || r.Pending() != 1 || r.pending[0].waited || !r.clockKnown.Load() {
					t.Errorf("%v %+v", err, r.pending)
				}
			})
		})
	}
}

// TestSettingsExpireWhileTheStoreHangs: the end of a change does not wait for the store.
func TestSettingsExpireWhileTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &hangingStore{connection: &connection{sharedStore: &sharedStore{}}}
		store.replies.Store(1 << 30)
		r, at := newReplicator(store)
		ctx, stop := context.WithCancel(t.Context())
		go r.Run(ctx)
		synctest.Wait()
		if _, err := r.Change(ctx, ttl("1h", 10*time.Second)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second - time.Millisecond)
		store.replies.Store(0)
		r.requestSync()
		if synctest.Wait(); at.last()["ip"]["ttl"] != "1h" {
			t.Errorf("expired early: %v", at.last())
		}
		time.Sleep(2 * time.Millisecond)
		if synctest.Wait(); len(at.last()) != 0 {
			t.Errorf("did not expire: %v", at.last())
		}
		stop()
		time.Sleep(2 * storeTime)
	})
}
