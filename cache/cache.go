package cache

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Remote is the far tier as this package uses it. None of its methods fails:
// what it cannot do is a miss, or is left undone.
type Remote interface {
	// Look reads, in one round trip within its own small time budget, the value
	// of a key, the record of a fill of it that failed a moment ago (nil: none),
	// and whether somebody holds the lease.
	Look(ctx context.Context, key string) (value, failure []byte, leased bool)
	// Set never blocks.
	Set(key string, value []byte, ttl time.Duration)
	// Add is Set where there is no value; what is there stays.
	Add(key string, value []byte, ttl time.Duration)
	// Fail keeps the record of a fill that failed, for the others to see. It
	// never blocks.
	Fail(key string, record []byte, ttl time.Duration)
	// Delete removes a key, behind, if it can.
	Delete(key string)
	// Lease asks for the right to fill a key; release is never nil.
	Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func())
}

// Config of a Cache.
type Config struct {
	// Memory caps the near tier in bytes; 0 means DefaultMemory.
	Memory int64
	// Fills is how many fills may run at once, refreshes included, and half of it
	// how many of one endpoint; 0 means DefaultFills.
	Fills int
	// Far is the second tier; nil for none.
	Far Remote
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Describe and Restore carry failures to other instances: the words for one,
	// at most 256 bytes ("": the others are not to hear of it), and the failure
	// for such words, which may be anybody's (nil: none). Nil stands for the
	// error's own text.
	Describe func(error) string
	Restore  func(text string) error
	// Log takes what a refresh in the background has to say; nil for nobody.
	Log *slog.Logger
}

// Cache holds both tiers and the flights between them. It is safe for
// concurrent use. Close it when no more requests come.
type Cache struct {
	near   *memory
	far    Remote
	packer *packer // with far
	flight *flights
	failed *failures
	marks  marks
	drops  dropSlots
	behind behind
	seen   *metrics
	log    *slog.Logger

	describe func(error) string
	restore  func(string) error

	mu     sync.Mutex
	spaces map[string]*Space
}

// New makes an empty cache.
func New(cfg Config) (*Cache, error) {
	cfg.Memory = cmp.Or(cfg.Memory, DefaultMemory)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Describe == nil {
		cfg.Describe = plainText
	}
	if cfg.Restore == nil {
		cfg.Restore = plainError
	}
	counters := &memoryCounters{}
	near, err := newMemory(cfg.Memory, counters)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &Cache{
		near: near, far: cfg.Far, flight: newFlights(cmp.Or(cfg.Fills, DefaultFills)), failed: newFailures(), log: cfg.Log,
		seen: newMetrics(), spaces: map[string]*Space{},
		describe: cfg.Describe, restore: cfg.Restore,
	}
	if c.far != nil {
		if c.packer, err = newPacker(); err != nil {
			return nil, fmt.Errorf("cache: %w", err)
		}
	}
	if cfg.Registerer != nil {
		if err := c.seen.register(cfg.Registerer, near, c.flight); err != nil {
			return nil, fmt.Errorf("cache: metrics: %w", err)
		}
	}
	return c, nil
}

// Close ends the fills under way, and waits for them and until all that is to be
// kept in Redis was handed over. The far tier is closed after it.
func (c *Cache) Close() error {
	c.flight.close()
	c.behind.wait()
	return c.near.close()
}
