// Package cache answers a key from memory, or fills it once for all callers that
// ask for it:
//
//	request ─► space ─► near tier ─► answer, and behind it:
//	             │ nothing usable      due for a refresh: a flight · else: a confirmation
//	             ▼
//	           flight, one per key ─► near tier again ─► Redis ─► pause? ─► lease ─► load
//	             └─ the answer for all who wait ◄─ both tiers ◄───────────────────────┘
//	purge ─► near tier and Redis; what was made before it is not served, nor stored
//
// A space is an endpoint's part, with its policy. A flight is one fill of a key. A pause keeps a
// key from being loaded after a failure, or while little is left of a quota. A lease is the right of
// one instance to load a key. A confirmation looks into Redis for what is newer than a copy.
//
// What it promises:
//
//   - A hit of an entry that is read often copies and allocates nothing and takes no
//     lock (the hot table). Any other costs at most two look-ups and one copy of the
//     bytes that are sent, however many candidates its pool holds.
//   - Freshness is decided when an entry is read, from its age and the policy in
//     force at that moment: a changed TTL applies to what is cached already.
//   - A key is filled by one flight at a time. A caller that disconnects does not
//     disturb the other waiters; when the last one leaves, the flight is cancelled,
//     unless it is a refresh.
//   - Fills are bounded in number, in total and per endpoint, and so is the share
//     of the memory that one endpoint may take while others need some.
//   - A failure is never stored as an answer and never replaces one. Nor do a
//     negative answer and the answer of a last resort replace a usable copy.
//   - Purged entries are gone from both tiers, and so is what was loaded for a fill
//     that began before the purge.
//   - With Redis, a key is filled by one instance of a fleet at a time, and what it has
//     refreshed replaces the older copies of the others once they are served.
//   - Redis is optional: without it, or while it is unhealthy, nothing fails.
//   - What the near tier holds outlives a restart in a file, if there is to be one.
//
// The life of an entry, by age:
//
//	created     eager     TTL            grace            stale-if-error
//	 |-- fresh ---|-fresh--|---- grace ----|---- stale ----| gone
//	 hit          hit, one  served, one     served when the  filled before
//	              refresh   refresh in the  refresh fails    answering
//	              in the    background      or is slow
//	              background
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

	"sundry/cache/confirm"
	"sundry/cache/near"
	"sundry/metrics/panics"
)

// Config of a Cache.
type Config struct {
	// Memory caps the near tier in bytes; 0 means near.DefaultMemory.
	Memory int64
	// Fills bounds the fills that run at once, refreshes included; one endpoint may
	// run half of them. 0 means DefaultFills.
	Fills int
	// Far is the second tier; nil for none.
	Far Remote
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Describe and Restore carry failures to other instances. Describe gives the
	// text of one, at most 256 bytes ("": it is not shared); Restore turns such a
	// text back into an error, and does not trust it (nil: not one of ours). The
	// default of both is the error's own text.
	Describe func(error) string
	Restore  func(text string) error
	// Observer is told of requests; nil for none.
	Observer Observer
	// Log takes the failures of background refreshes; nil for none.
	Log *slog.Logger
	// Panics catches those of fills, and of what goes on behind requests.
	Panics *panics.Catcher
}

// Cache holds both tiers and the flights between them. It is safe for
// concurrent use. Close it when no more requests come.
type Cache struct {
	near       *near.Memory
	confirmed  confirm.Table
	far        Remote
	compressor *compressor // with far
	flights    *flights
	failures   *failures
	withheld   *failures // keys whose refresh was withheld a while ago
	metrics    *cacheMetrics
	observer   Observer // nil: none
	told       []func(Filled)
	log        *slog.Logger
	panics     *panics.Catcher

	describe func(error) string
	restore  func(string) error

	mu     sync.Mutex
	spaces map[string]*Space
	purges purges
}

// New makes an empty cache.
func New(cfg Config) (*Cache, error) {
	cfg.Memory = cmp.Or(cfg.Memory, near.DefaultMemory)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Describe == nil {
		cfg.Describe = plainText
	}
	if cfg.Restore == nil {
		cfg.Restore = plainError
	}
	memory, err := near.New(cfg.Memory, cfg.Panics)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &Cache{
		near: memory, far: cfg.Far, flights: newFlights(cmp.Or(cfg.Fills, DefaultFills), cfg.Panics),
		failures: newFailures(), withheld: newFailures(),
		log: cfg.Log, panics: cfg.Panics, observer: cfg.Observer,
		spaces: map[string]*Space{}, describe: cfg.Describe, restore: cfg.Restore,
	}
	c.metrics = newMetrics(cfg.Registerer, memory, c.flights)
	if c.far != nil {
		if c.compressor, err = newCompressor(); err != nil {
			return nil, fmt.Errorf("cache: %w", err)
		}
	}
	return c, nil
}

// Close cancels the fills under way and waits for them. Close the far tier after it,
// which writes what waits.
func (c *Cache) Close() error {
	c.flights.close()
	return c.near.Close()
}
