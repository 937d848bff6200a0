package host

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// TestSlotsOfOneClient: a client that asks for slots of a host, of drawings or of targets without end gets its part of those that
// run and of those that wait, and is refused at once beyond that. Others get slots, or wait for one.
func TestSlotsOfOneClient(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func() func(context.Context) error{
		"host": func() func(context.Context) error {
			h := newHost("a", Config{})
			return func(ctx context.Context) error { _, _, err := h.Enter(ctx, 0); return err }
		},
		"drawing": func() func(context.Context) error {
			w := &Work{}
			return func(ctx context.Context) error { _, err := w.EnterDrawing(ctx); return err }
		},
		"targets": func() func(context.Context) error {
			w := &Work{}
			return func(ctx context.Context) error { _, err := w.EnterTarget(ctx, "example.org"); return err }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				enter, began := start(), time.Now()
				var got, late, refused atomic.Int64
				try := func(id clients.ID) {
					switch err := enter(clients.With(t.Context(), id)); {
					case err == nil:
						got.Add(1)
					case time.Since(began) == 0:
						refused.Add(1)
					default:
						late.Add(1)
					}
				}
				for range 1000 {
					go try(1)
				}
				synctest.Wait()
				if got.Load() == 0 || refused.Load() == 0 {
					t.Errorf("at once, one client gets %d slots, and is refused %d times", got.Load(), refused.Load())
				}
				before, running := refused.Load(), got.Load()
				go try(2)
				synctest.Wait()
				if refused.Load() > before || name == "host" && got.Load() == running {
					t.Errorf("after one client has got %d slots, another is refused, or waits", running)
				}
				time.Sleep(2 * queueTime)
				synctest.Wait()
				if late.Load() == 0 {
					t.Error("nobody has waited")
				}
			})
		})
	}
}

// TestASlotGoesToWhoMayHaveIt: one that is given back goes to the first that waits and has not its part already.
func TestASlotGoesToWhoMayHaveIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(4, 8)
		of := func(id clients.ID) context.Context { return clients.With(t.Context(), id) }
		var releases []func()
		for _, id := range []clients.ID{1, 1, 2, 3} { // all that run
			release, err := s.acquire(of(id))
			if err != nil {
				t.Fatal(id, err)
			}
			releases = append(releases, release)
		}
		order := make(chan clients.ID, 3)
		for _, id := range []clients.ID{1, 4} {
			go func() {
				if release, err := s.acquire(of(id)); err == nil {
					order <- id
					release()
				}
			}()
			synctest.Wait()
		}
		releases[2]()
		synctest.Wait()
		if len(order) != 1 || <-order != 4 {
			t.Error("the slot went to a client that has its part, or to nobody")
		}
		for _, release := range []func(){releases[0], releases[1], releases[3]} {
			release()
		}
		synctest.Wait()
		if len(order) != 1 || s.running.Used() != 0 || s.waiting.Used() != 0 || s.queue.Len() != 0 {
			t.Errorf("%d got a slot; %d run, %d wait", len(order), s.running.Used(), s.waiting.Used())
		}
	})
}

// TestAGrantedCallLeavesTheQueue: from the moment that it has its slot, its place in the queue is free for the next call.
func TestAGrantedCallLeavesTheQueue(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			s, ctx := newSlots(2, 2), clients.With(t.Context(), 1) // one of each for one client
			release, err := s.acquire(ctx)
			if err != nil {
				t.Fatal(err)
			}
			go s.acquire(ctx)
			synctest.Wait()
			left, leave := context.WithCancel(ctx)
			leave()
			release()
			if _, err := s.acquire(left); !errors.Is(err, context.Canceled) {
				t.Errorf("the next call does not wait: %v", err)
			}
		})
	}
}
