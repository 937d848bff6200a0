// Package cache answers a key from memory, or fills it once for everyone who
// asks. What it promises:
//
//   - A fresh entry costs one look-up and one copy of the bytes that are sent,
//     however many candidates its pool holds.
//   - Freshness is decided when an entry is read, from its birth and the policy
//     in force at that moment: a changed TTL applies to what is cached already.
//   - A key is filled by one flight at a time. Whoever leaves hurts nobody; when
//     the last one leaves, the flight is cancelled, unless it is a refresh.
//   - Fills are bounded in number, in all and for each endpoint, and so is what an
//     endpoint may take of the memory while others want some.
//   - A failure is never stored as an answer and never replaces one. Nor do a
//     definite no and a last resort replace a copy that may still stand in.
//   - What a purge or a drop meant is gone, in both tiers, and so is what was
//     loaded for a fill that began before it.
//   - Redis only helps: without it, or with a sick one, nothing fails.
//
// The life of an entry, by age:
//
//	born        eager     TTL            grace            stale-if-error
//	 |-- fresh ---|-fresh--|---- grace ----|---- stale ----| gone
//	 hit          hit, one  served, one     served when the  filled before
//	              refresh   refresh behind  refresh fails    answering
//	              behind                    or is slow
//
// Every answer comes in the forms its endpoint declares (JSON, text, a picture,
// a redirect), all made at fill. A form with several bodies is a pool: each
// request gets one of them at random.
package cache

import (
	"cmp"
	"fmt"
	"log/slog"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

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
