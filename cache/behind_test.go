package cache

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBehindKeepsOrderAndIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b behind
		var done []int
		for i := range 100 {
			if !b.add(i%3, func() { time.Sleep(time.Millisecond); done = append(done, i) }) {
				t.Fatal("refused")
			}
		}
		b.wait()
		if len(done) != 100 || !slices.IsSorted(done) {
			t.Errorf("%v", done)
		}
		b.wait()
	})
}

func TestBehindIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b behind
		hold := make(chan struct{})
		b.add(behindBytes, func() { <-hold })
		synctest.Wait()
		if b.add(1, func() {}) {
			t.Error("more bytes were taken than may wait")
		}
		if !b.add(0, func() {}) {
			t.Error("what costs nothing was refused")
		}
		close(hold)
		b.wait()
		if !b.add(behindBytes, func() {}) {
			t.Error("still full")
		}
		b.wait()
	})
}

// slowShelf tells in which order it was called.
type slowShelf struct {
	*shelf
	mu    sync.Mutex
	calls []string
}

func (s *slowShelf) note(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, call)
}

func (s *slowShelf) Set(key string, value []byte, ttl time.Duration) {
	s.note("set " + key)
	s.shelf.Set(key, value, ttl)
}

func (s *slowShelf) Delete(key string) {
	s.note("delete " + key)
	s.shelf.Delete(key)
}

func TestCallersDoNotWaitForRedis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &slowShelf{shelf: newShelf()}
		c := newCache(t, Config{Far: far})
		s := c.Space("story", usual())
		hold := make(chan struct{})
		c.behind.add(0, func() { <-hold })
		l := &script{}
		mustFetch(t, s, "dropped", l)
		mustFetch(t, s, "kept", l)
		s.Drop("dropped", time.Now())
		if len(far.calls) != 0 {
			t.Errorf("%v", far.calls)
		}
		close(hold)
		synctest.Wait()
		if want := []string{"set kept", "delete dropped"}; !slices.Equal(far.calls, want) {
			t.Errorf("%v, want %v", far.calls, want)
		}
		mustFetch(t, s, "dropped", l)
		synctest.Wait()
		if far.values["dropped"] == nil {
			t.Error("what came after the drop is not in Redis")
		}
	})
}

func TestCloseHandsOverWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newShelf()
		c, err := New(Config{Memory: MinMemory, Far: far})
		if err != nil {
			t.Fatal(err)
		}
		mustFetch(t, c.Space("story", usual()), "k", &script{})
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if far.values["k"] == nil {
			t.Error("what was loaded before is not in Redis")
		}
	})
}
