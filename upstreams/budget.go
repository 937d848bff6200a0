package upstreams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of the memory that replies take together.
const (
	// DefaultBudget is the default limit in bytes.
	DefaultBudget = 128 << 20
	// MinBudget is the smallest limit that admits the largest declared picture.
	MinBudget = 16 << 20
	// budgetTime is how long a reservation waits for others to be released.
	budgetTime = 2 * time.Second
)

// Parts of a budget. A large reply takes long to decode, to map and to render: these
// queue among themselves, so that small ones find the other half of the memory, and a
// processor. Only one that is larger than that half takes of it as well, once there is no
// other large one.
const (
	// largePart of the budget makes a reservation a large one, once it has taken so
	// much altogether.
	largePart = 16
	// largeTogether is the part that all large ones may take.
	largeTogether = 2
)

// Budget bounds the bytes of all replies that are being read, decoded, mapped and
// rendered. The zero value is of DefaultBudget; it is safe for concurrent use.
type Budget struct {
	// Limit in bytes; 0 means DefaultBudget. Not changed once it is used.
	Limit int64
	once  sync.Once
	bytes pool
	large pool // what large reservations take of bytes
	// begin is held by the one that waits to become large: those after it wait for it.
	begin *semaphore.Weighted
	// grow is held by the large one that waits for more.
	grow sync.Mutex
	// beyond is held by the one that has the whole large half and waits for more than
	// that; or, for reading, by those that wait to become large.
	beyond sync.RWMutex
}

func (b *Budget) open() {
	b.once.Do(func() {
		if b.Limit == 0 {
			b.Limit = DefaultBudget
		}
		b.bytes.free, b.large.free, b.begin = b.Limit, b.Limit/largeTogether, semaphore.NewWeighted(1)
	})
}

// Reservation is the memory that one attempt has reserved of a budget. The zero
// value has no budget and is unbounded. It is for one goroutine.
type Reservation struct {
	budget *Budget
	taken  int64
	large  int64 // of what all large ones may take
	within bool  // an attempt that waits for this one has taken of that already
}

// Take reserves n bytes more. The error is Malformed for a reply that exceeds the
// whole budget, and Busy where others hold too much of it.
func (r *Reservation) Take(ctx context.Context, n int64) error {
	if r.budget == nil || n <= 0 {
		return nil
	}
	b := r.budget
	b.open()
	if r.taken+n > b.Limit {
		return &Error{Kind: Malformed, Err: fmt.Errorf("%w: it needs %d MiB of memory", ErrTooLarge, (r.taken+n)>>20)}
	}
	if err := r.takeLarge(ctx, r.taken+n); err != nil {
		return err
	}
	if err := r.takeBytes(ctx, n); err != nil {
		return err
	}
	r.taken += n
	return nil
}

// takeBytes takes of all bytes. One that has the whole large half, and needs more than that,
// does not wait while others wait for it: they have bytes, too.
func (r *Reservation) takeBytes(ctx context.Context, n int64) error {
	b := r.budget
	if ok, _ := b.bytes.try(n); ok {
		return nil
	}
	if r.large == b.Limit/largeTogether {
		if !b.beyond.TryLock() {
			return errBusy()
		}
		defer b.beyond.Unlock()
	}
	return patiently(ctx, func(ctx context.Context) error { return b.bytes.take(ctx, n) })
}

// takeLarge takes what a reply of so many bytes is to have of the large half: all that it
// has, not the last step alone.
func (r *Reservation) takeLarge(ctx context.Context, total int64) error {
	b := r.budget
	n := min(total, b.Limit/largeTogether) - r.large
	if r.within || total < b.Limit/largePart || n <= 0 {
		return nil
	}
	take := b.beginLarge
	if r.large > 0 {
		take = b.growLarge
	}
	if err := take(ctx, n); err != nil {
		return err
	}
	r.large += n
	return nil
}

// beginLarge takes of the large half for a reservation that has nothing of it yet, in the
// order in which they come.
func (b *Budget) beginLarge(ctx context.Context, n int64) error {
	if !b.beyond.TryRLock() {
		return errBusy()
	}
	defer b.beyond.RUnlock()
	return patiently(ctx, func(ctx context.Context) error {
		if err := b.begin.Acquire(ctx, 1); err != nil {
			return err
		}
		defer b.begin.Release(1)
		return b.large.take(ctx, n)
	})
}

// growLarge takes more of the large half. One at a time may wait for that: two would wait
// for each other.
func (b *Budget) growLarge(ctx context.Context, n int64) error {
	if ok, _ := b.large.try(n); ok {
		return nil
	}
	if !b.grow.TryLock() {
		return errBusy()
	}
	defer b.grow.Unlock()
	return patiently(ctx, func(ctx context.Context) error { return b.large.take(ctx, n) })
}

// patiently takes what others may have to release first.
func patiently(ctx context.Context, take func(context.Context) error) error {
	wait, cancel := context.WithTimeout(ctx, budgetTime)
	defer cancel()
	if take(wait) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errBusy()
}

func errBusy() error {
	return &Error{Kind: Busy, Err: errors.New("too many large replies are being read")}
}

// Release releases everything.
func (r *Reservation) Release() {
	if r.taken > 0 {
		r.budget.bytes.give(r.taken)
	}
	if r.large > 0 {
		r.budget.large.give(r.large)
	}
	r.taken, r.large = 0, 0
}

// fork is for work that r waits for, and that may outlive it.
func (r *Reservation) fork() Reservation {
	return Reservation{budget: r.budget, within: r.within || r.large > 0}
}

// Kept is the memory of the answers to a call: theirs is reserved until the caller has
// made of them what it wants. The zero value is ready; it is safe for concurrent use.
type Kept struct {
	mu       sync.Mutex
	of       []Reservation
	released bool
}

// keep takes over what an attempt that answered has reserved. It leaves the reservation
// as it is where nothing is kept any more, or k is nil.
func (k *Kept) keep(r *Reservation) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.released && r.taken > 0 {
		k.of = append(k.of, *r)
		r.taken, r.large = 0, 0
	}
}

// Release releases everything, now and from now on.
func (k *Kept) Release() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range k.of {
		k.of[i].Release()
	}
	k.of, k.released = nil, true
}

// pool is an amount of memory in bytes. Whoever finds enough takes it, also while others
// wait for more: they may wait for the very reply that needs a little to be done. It is
// safe for concurrent use.
type pool struct {
	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when some is given back; nil: nobody waits
}

// try takes n bytes, if they are free; else it returns what is closed when some are given
// back.
func (p *pool) try(n int64) (ok bool, freed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free >= n {
		p.free -= n
		return true, nil
	}
	if p.freed == nil {
		p.freed = make(chan struct{})
	}
	return false, p.freed
}

// take waits until n bytes are free.
func (p *pool) take(ctx context.Context, n int64) error {
	for {
		ok, freed := p.try(n)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// give gives n bytes back.
func (p *pool) give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}
