package upstreams

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestAllowances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{Limit: 100}
		one, two := Reservation{budget: b}, Reservation{budget: b}
		if err := one.Take(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := two.Take(t.Context(), 60); KindOf(err) != Busy || time.Since(start) != budgetTime {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := one.Take(t.Context(), 60); KindOf(err) != Malformed || time.Since(start) != budgetTime {
			t.Errorf("past the whole budget: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := two.Take(ended, 60); err == nil || KindOf(err) == Busy {
			t.Errorf("a caller who left: %v", err)
		}
		released := make(chan struct{})
		go func() { time.Sleep(time.Second); one.Release(); close(released) }()
		start = time.Now()
		if err := two.Take(t.Context(), 60); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		<-released
		two.Release()
		two.Release()
		if err := one.Take(t.Context(), 100); err != nil {
			t.Errorf("after all was given back: %v", err)
		}
	})
	var none Reservation
	if err := none.Take(t.Context(), 1<<40); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	none.Release()
}

// TestSmallRepliesDoNotWaitForLargeOnes: these wait for each other.
func TestSmallRepliesDoNotWaitForLargeOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{Limit: 64 << 20}
		large := func(n int64) *Reservation {
			r := &Reservation{budget: b}
			if err := r.Take(t.Context(), n); err != nil {
				t.Error(err)
			}
			return r
		}
		first := large(20 << 20)
		done := make(chan struct{})
		go func() { defer close(done); large(20 << 20).Release() }()
		synctest.Wait()
		select {
		case <-done:
			t.Error("two large replies of a third of the memory are made at the same time")
		default:
		}
		small := make([]Reservation, 40)
		start := time.Now()
		for i := range small {
			small[i].budget = b
			if err := small[i].Take(t.Context(), 1<<20); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("small ones wait for %v", took)
		}
		for i := range small {
			small[i].Release()
		}
		first.Release()
		<-done
		whole := large(64 << 20) // one may take all
		whole.Release()
		if last := large(20 << 20); last.Take(t.Context(), 20<<20) != nil {
			t.Error("a second large reply of the same attempt is refused")
		} else if fork := last.fork(); fork.Take(t.Context(), 20<<20) != nil {
			t.Error("a large reply is refused to what the attempt waits for")
		} else {
			fork.Release()
			last.Release()
		}
		large(64 << 20).Release()
	})
}

// replies are those that share a budget of 64 MiB, of which large ones take half.
type replies struct {
	*testing.T
	budget *Budget
}

func newReplies(t *testing.T) replies { return replies{t, &Budget{Limit: 64 << 20}} }

// read begins a reply, and reads so many MiB of it in steps.
func (r replies) read(mib int) *Reservation {
	r.Helper()
	of := &Reservation{budget: r.budget}
	r.more(of, mib)
	return of
}

// more reads on, and does not wait.
func (r replies) more(of *Reservation, mib int) {
	r.Helper()
	start := time.Now()
	for range mib << 4 {
		if err := of.Take(r.Context(), 64<<10); err != nil || time.Since(start) > 0 {
			r.Fatalf("%v after %v, at %d KiB", err, time.Since(start), of.taken>>10)
		}
	}
}

// waits takes so many MiB, and expects that this has to wait.
func (r replies) waits(of *Reservation, mib int64) <-chan error {
	r.Helper()
	done := make(chan error, 1)
	go func() { done <- of.Take(r.Context(), mib<<20) }()
	synctest.Wait()
	if len(done) > 0 {
		r.Fatalf("it does not wait: %v", <-done)
	}
	return done
}

// goesOn expects that a wait has ended.
func (r replies) goesOn(done <-chan error) {
	r.Helper()
	synctest.Wait()
	select {
	case err := <-done:
		if err != nil {
			r.Error(err)
		}
	default:
		r.Error("it waits on")
	}
}

// TestRepliesReadInStepsGetLarge, and leave the other half to small ones.
func TestRepliesReadInStepsGetLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplies(t)
		first, second := r.read(20), r.read(12)
		third := r.waits(second, 1)
		for range 8 {
			defer r.read(3).Release()
		}
		first.Release()
		r.goesOn(third)
		second.Release()
	})
}

// TestLargeRepliesDoNotWaitForEachOther: where each has a part and needs more, one of them is
// refused at once, and the other goes on.
func TestLargeRepliesDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplies(t)
		one, other := r.read(16), r.read(16)
		waiting, start := r.waits(one, 4), time.Now()
		if err := other.Take(t.Context(), 64<<10); KindOf(err) != Busy || time.Since(start) > 0 {
			t.Errorf("%v after %v, want busy at once", err, time.Since(start))
		}
		other.Release()
		r.goesOn(waiting)
		one.Release()
	})
}

// TestOneBeyondTheHalfDoesNotWaitForThoseThatWaitForIt: they have memory that it may need.
// Whoever comes last is refused at once.
func TestOneBeyondTheHalfDoesNotWaitForThoseThatWaitForIt(t *testing.T) {
	for name, test := range map[string]func(r replies, most, begun *Reservation) (waiting <-chan error, refused error){
		"it waits first": func(r replies, most, begun *Reservation) (<-chan error, error) {
			return r.waits(most, 62), begun.Take(r.Context(), 2<<20)
		},
		"it waits last": func(r replies, most, begun *Reservation) (<-chan error, error) {
			r.more(most, 40)
			return r.waits(begun, 2), most.Take(r.Context(), 22<<20)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReplies(t)
				most, begun := &Reservation{budget: r.budget}, r.read(3)
				start := time.Now()
				waiting, err := test(r, most, begun)
				if KindOf(err) != Busy || time.Since(start) > 0 {
					t.Errorf("%v after %v, want busy at once", err, time.Since(start))
				}
				if name == "it waits last" {
					most.Release()
				} else {
					begun.Release()
				}
				r.goesOn(waiting)
			})
		})
	}
}

// TestWhoeverHasMemoryGoesFirst: one that waits for much does not stop those that need
// little, for whose memory it waits.
func TestWhoeverHasMemoryGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplies(t)
		begun := r.read(20)
		most := &Reservation{budget: r.budget}
		ofLarge := r.waits(most, 60)
		if err := begun.Take(t.Context(), 8<<20); err != nil {
			t.Error(err)
		}
		small := [3]*Reservation{r.read(2), r.read(2), r.read(2)}
		begun.Release() // now there are the large half, and all but 6 MiB
		synctest.Wait()
		for _, s := range small {
			r.more(s, 1)
		}
		for _, s := range small {
			s.Release()
		}
		r.goesOn(ofLarge)
		most.Release()
	})
}

// TestLargeRepliesBeginInOrder: those that need less do not keep one that needs all of the
// half from it.
func TestLargeRepliesBeginInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReplies(t)
		begun, most, later := r.read(20), &Reservation{budget: r.budget}, &Reservation{budget: r.budget}
		first := r.waits(most, 40)
		second := r.waits(later, 8)
		begun.Release()
		r.goesOn(first)
		if len(second) > 0 {
			t.Error("both have begun")
		}
		most.Release()
		r.goesOn(second)
		later.Release()
	})
}

// TestAnswersKeepTheirMemory until the caller has made of them what it wants.
func TestAnswersKeepTheirMemory(t *testing.T) {
	b := &Budget{Limit: 64 << 20}
	left := func() bool { // whether all is free
		b.open()
		return b.bytes.free == b.Limit && b.large.free == b.Limit/largeTogether
	}
	take := func() *Reservation {
		r := &Reservation{budget: b}
		if err := r.Take(t.Context(), 20<<20); err != nil {
			t.Fatal(err)
		}
		return r
	}
	kept, of := &Kept{}, take()
	kept.keep(of)
	if of.Release(); left() {
		t.Error("the attempt has released what is kept")
	}
	if kept.Release(); !left() {
		t.Error("it is not released")
	}
	of = take() // of an attempt that ends too late
	kept.keep(of)
	if of.Release(); !left() {
		t.Error("what came too late is kept")
	}
	var none *Kept
	of = take()
	none.keep(of)
	if of.Release(); !left() {
		t.Error("nobody keeps it, and it is not released")
	}
}
