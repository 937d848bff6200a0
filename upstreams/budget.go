package upstreams

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of the memory that fills take together.
const (
	// DefaultBudget is what all replies in the making may take at once.
	DefaultBudget = 128 << 20
	// MinBudget is the least that lets a picture of the largest kind through.
	MinBudget = 16 << 20
	// budgetTime is the longest that one waits for its part.
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

// Reservation is what one attempt has taken of a budget. The zero value, without
// a budget, is unbounded. It is for one goroutine.
type Reservation struct {
	budget *Budget
	taken  int64
}

// Take asks for so many bytes more. The error is Malformed for a reply that no
// budget would bear, and Busy where too many others are being made.
func (a *Reservation) Take(ctx context.Context, n int64) error {
	if a.budget == nil || n <= 0 {
		return nil
	}
	a.budget.open()
	if a.taken+n > a.budget.Limit {
		return &Error{Kind: Malformed, Err: fmt.Errorf("%w: it would take %d MiB of memory", ErrTooLarge, (a.taken+n)>>20)}
	}
	wait, cancel := context.WithTimeout(ctx, budgetTime)
	defer cancel()
	if err := a.budget.bytes.Acquire(wait, n); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &Error{Kind: Busy, Err: errors.New("too many large replies are being read")}
	}
	a.taken += n
	return nil
}

// Release gives everything back.
func (a *Reservation) Release() {
	if a.taken > 0 {
		a.budget.bytes.Release(a.taken)
		a.taken = 0
	}
}
