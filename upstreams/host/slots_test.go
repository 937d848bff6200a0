package host

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// What waits, waits briefly, and not behind too many.
func TestSlotsHaveAShortQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 2)
		var leave []func()
		for range 2 {
			l, err := s.acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			leave = append(leave, l)
		}
		var waiting, late, atOnce atomic.Int64
		start := time.Now()
		for range 10 {
			go func() {
				waiting.Add(1)
				defer waiting.Add(-1)
				if l, err := s.acquire(t.Context()); err == nil {
					l()
				} else if errors.Is(err, ErrBusy) && time.Since(start) == 0 {
					atOnce.Add(1)
				} else if errors.Is(err, ErrBusy) {
					late.Add(1)
				}
			}()
		}
		synctest.Wait()
		if waiting.Load() != 2 || atOnce.Load() != 8 {
			t.Errorf("%d wait, %d were refused at once; want 2 and 8", waiting.Load(), atOnce.Load())
		}
		leave[0]() // one of those that wait gets the place, and gives it to the other
		synctest.Wait()
		if waiting.Load() != 0 || late.Load() != 0 {
			t.Errorf("%d still wait, %d were refused", waiting.Load(), late.Load())
		}
		l, err := s.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		start = time.Now()
		if _, err := s.acquire(t.Context()); !errors.Is(err, ErrBusy) || time.Since(start) != queueTime {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.acquire(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller who left: %v", err)
		}
		l()
		leave[1]()
	})
}

// Callers' targets are bounded each and in all, and forgotten when nobody asks
// them.
func TestVisitsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Work
		var all sync.WaitGroup
		var in, busy atomic.Int64
		stay := make(chan struct{})
		for i := range 1000 {
			all.Go(func() {
				leave, err := w.EnterTarget(t.Context(), string(rune('a'+i%60)))
				if err != nil {
					busy.Add(1)
					return
				}
				in.Add(1)
				<-stay
				leave()
			})
		}
		time.Sleep(time.Second)
		if in.Load() != targetsInAll || busy.Load() != 1000-targetsInAll {
			t.Errorf("%d at once, %d refused", in.Load(), busy.Load())
		}
		if _, err := w.EnterTarget(t.Context(), "zz"); !errors.Is(err, ErrBusy) {
			t.Errorf("past the bound of all: %v", err)
		}
		close(stay)
		all.Wait()
		stay = make(chan struct{})
		in.Store(0)
		for range 100 {
			all.Go(func() {
				if leave, err := w.EnterTarget(t.Context(), "one"); err == nil {
					in.Add(1)
					<-stay
					leave()
				}
			})
		}
		time.Sleep(time.Second)
		if in.Load() != targetsEach {
			t.Errorf("%d at once to one target, want %d", in.Load(), targetsEach)
		}
		close(stay)
		all.Wait()
		if len(w.targets) != 0 {
			t.Errorf("%d targets are remembered", len(w.targets))
		}
	})
}

// TestDrawingsWaitForThePlaceNotForTheProcessor: on one processor, drawings that
// come at once would each find the place free when it is their turn to run, and
// all would be drawn, one after the other, while hits wait among them.
func TestDrawingsWaitForThePlaceNotForTheProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var w Work
	var refused atomic.Int64
	var all sync.WaitGroup
	const n = 1 + drawingQueue + 70
	for range n {
		all.Go(func() {
			leave, err := w.EnterDrawing(t.Context())
			if err != nil {
				refused.Add(1)
				return
			}
			leave()
		})
	}
	all.Wait()
	if refused.Load() == 0 {
		t.Errorf("%d drawings at once, and none is refused", n)
	}
}
