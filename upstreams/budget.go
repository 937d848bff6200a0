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

// Budget bounds the bytes of all replies that are being read, decoded and
// mapped. The zero value is of DefaultBudget; it is safe for concurrent use.
type Budget struct {
	// Limit in bytes; 0 means DefaultBudget. Not changed once it is used.
	Limit int64
	once  sync.Once
	bytes *semaphore.Weighted
}

func (b *Budget) open() {
	b.once.Do(func() {
		if b.Limit == 0 {
			b.Limit = DefaultBudget
		}
		b.bytes = semaphore.NewWeighted(b.Limit)
	})
}

// Reservation is the memory that one attempt has reserved of a budget. The zero
// value has no budget and is unbounded. It is for one goroutine.
type Reservation struct {
	budget *Budget
	taken  int64
}

// Take reserves n bytes more. The error is Malformed for a reply that exceeds the
// whole budget, and Busy where others hold too much of it.
func (r *Reservation) Take(ctx context.Context, n int64) error {
	if r.budget == nil || n <= 0 {
		return nil
	}
	r.budget.open()
	if r.taken+n > r.budget.Limit {
		return &Error{Kind: Malformed, Err: fmt.Errorf("%w: it needs %d MiB of memory", ErrTooLarge, (r.taken+n)>>20)}
	}
	if !r.budget.bytes.TryAcquire(n) {
		if err := r.budget.wait(ctx, n); err != nil {
			return err
		}
	}
	r.taken += n
	return nil
}

// wait waits until n bytes are free.
func (b *Budget) wait(ctx context.Context, n int64) error {
	wait, cancel := context.WithTimeout(ctx, budgetTime)
	defer cancel()
	if b.bytes.Acquire(wait, n) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Kind: Busy, Err: errors.New("too many large replies are being read")}
}

// Release releases everything.
func (r *Reservation) Release() {
	if r.taken > 0 {
		r.budget.bytes.Release(r.taken)
		r.taken = 0
	}
}
