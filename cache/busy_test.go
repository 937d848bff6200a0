package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// crowd begins fills of the keys, waits until they run, and gives back what
// waits for their end.
func crowd(t *testing.T, s *Space, l Loader, from, to int) *sync.WaitGroup {
	t.Helper()
	var all sync.WaitGroup
	for i := from; i < to; i++ {
		all.Go(func() { mustFetch(t, s, fmt.Sprint(s.name, ":", i), l) })
	}
	synctest.Wait()
	return &all
}

func TestFillsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 8})
		one, two, three := c.Space("one", usual()), c.Space("two", usual()), c.Space("three", usual())
		l := &script{takes: 5 * time.Second}
		refused := func(s *Space, key string) {
			t.Helper()
			start := time.Now()
			_, err := s.Fetch(t.Context(), key, Want{}, l)
			if !errors.Is(err, ErrBusy) || time.Since(start) != 0 {
				t.Errorf("%s: %v after %v", s.name, err, time.Since(start))
			}
			if _, err := c.failed.paused(key, false, time.Now()); err != nil {
				t.Errorf("%s: a failure record: %v", key, err)
			}
		}
		first := crowd(t, one, l, 0, 4)
		refused(one, "one:4")
		refused(c.Space("one/pictures", usual()), "one/pictures:1")
		second := crowd(t, two, l, 0, 4)
		refused(three, "three:0")
		joined := crowd(t, one, l, 0, 2) // who joins is no further fill
		for _, crowd := range []*sync.WaitGroup{first, second, joined} {
			crowd.Wait()
		}
		wantCalls(t, l, 8)
		mustFetch(t, three, "three:0", l)
		if n := c.flight.running(); n != 0 || len(c.flight.fills.by) != 0 {
			t.Errorf("%d fills are still counted: %v", n, c.flight.fills.by)
		}
	})
}

func TestStaleCopyStandsInWhenNoFillMayBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		s, busy := c.Space("story", usual()), c.Space("busy", usual())
		l := &script{}
		mustFetch(t, s, "k", l)
		for _, after := range []time.Duration{2 * time.Minute, 30 * time.Minute} {
			time.Sleep(after)
			other := crowd(t, busy, &script{takes: time.Second}, int(after), int(after)+1)
			wantText(t, mustFetch(t, s, "k", l), "answer 1")
			other.Wait()
		}
		wantCalls(t, l, 1)
	})
}

// What a fill asks for in its turn is counted with it, or fills would wait for
// each other's places.
func TestFillsInsideFillsAreCountedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		none := usual()
		none.TTL = 0
		for _, outer := range []*Space{c.Space("story", usual()), c.Space("story", none)} {
			inner := c.Space("story/step", usual())
			l := loaderFunc(func(ctx context.Context, _ bool) (Content, error) {
				_, err := inner.Fetch(ctx, "step", Want{}, &script{})
				return textContent("x"), err
			})
			mustFetch(t, outer, "k", l)
		}
	})
}

func TestWhatIsNotKeptIsCountedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reg := prometheus.NewPedanticRegistry()
		c := newCache(t, Config{Fills: 4, Registerer: reg})
		s := c.Space("card", Policy{FillTimeout: time.Minute})
		l := &script{takes: time.Second}
		two := crowd(t, s, l, 0, 2)
		if _, err := s.Fetch(t.Context(), "k", Want{}, l); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		running, limit := newFillsGauges(c.flight)
		if r, l := testutil.ToFloat64(running), testutil.ToFloat64(limit); r != 2 || l != 4 {
			t.Errorf("%v of %v fills", r, l)
		}
		two.Wait()
	})
}

// A fill that was cancelled keeps its place until it has really ended.
func TestCancelledFillsAreCountedUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCache(t, Config{Fills: 1})
		s := c.Space("story", usual())
		end := make(chan struct{})
		leaver(t, s, "k", loaderFunc(func(context.Context, bool) (Content, error) { <-end; return no(), nil }), time.Second)
		if _, err := s.Fetch(t.Context(), "k", Want{}, &script{}); !errors.Is(err, ErrBusy) {
			t.Error(err)
		}
		close(end)
		synctest.Wait()
		mustFetch(t, s, "k", &script{})
	})
}
