package proxy

import (
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"sundry/upstreams/catalog"
)

const (
	// parseCacheBytes bounds what is remembered of all endpoints together.
	parseCacheBytes = 16 << 20
	// longestParsed is the length of the longest query that is remembered, its client included.
	longestParsed = 1024
	// parsedOverhead is what an entry takes beside its texts, in bytes.
	parsedOverhead = 768
	// parsedOnce is how many queries that came once are told from new ones.
	parsedOnce = 8 << 10
)

// parseCache remembers what the queries of all endpoints mean that come again and again,
// because to parse them takes longer than all else that a hit needs: see
// BenchmarkParseCache. Only those that were answered from the near tier twice are put in, so
// that scans, and queries with a time or a random callback in them, cost no more than the
// parsing. A reload begins with an empty one.
type parseCache struct {
	entries *otter.Cache[parseKey, *parsedQuery]
	seed    maphash.Seed
	once    [parsedOnce]atomic.Uint32 // the last query of each slot, by hash
}

// parseKey is everything that decides what a query means. Of the circumstances, it has
// those that the endpoint depends on. It has no pointer, so that no look-up allocates.
type parseKey struct {
	endpoint    int // its place in the catalog
	query       string
	addr        [16]byte
	agent, hint string // User-Agent and Sec-CH-UA-Mobile
	day         int64
}

// parsedQuery is what a query means. It is immutable.
type parsedQuery struct {
	in  catalog.Input
	key string // of the answer
}

func newParseCache() (*parseCache, error) {
	entries, err := otter.New(&otter.Options[parseKey, *parsedQuery]{
		MaximumWeight: parseCacheBytes,
		Weigher:       func(key parseKey, p *parsedQuery) uint32 { return uint32(parsedOverhead + key.length() + len(p.key)) },
		Executor:      func(work func()) { work() },
	})
	if err != nil {
		return nil, fmt.Errorf("parse cache: %w", err)
	}
	return &parseCache{entries: entries, seed: maphash.MakeSeed()}, nil
}

func (k *parseKey) length() int { return len(k.query) + len(k.agent) + len(k.hint) }

// again reports whether a query came before, not long ago.
func (c *parseCache) again(key *parseKey) bool {
	hash := maphash.Comparable(c.seed, *key)
	slot, mark := &c.once[hash>>32%parsedOnce], uint32(hash)|1
	return slot.Load() == mark || slot.Swap(mark) == mark
}

// endpointParses is the part of the parse cache that belongs to an endpoint. Nil
// remembers nothing.
type endpointParses struct {
	*parseCache
	endpoint *catalog.Endpoint
	place    int // in the catalog
	depends  catalog.Circumstances
}

// of returns nil for an endpoint of whose queries nothing may be remembered: they mean
// something else each time, or hold what only some know.
func (c *parseCache) of(e *catalog.Endpoint, place int) *endpointParses {
	depends := e.Circumstances()
	if depends&catalog.OfChance != 0 || e.TakesSecrets() {
		return nil
	}
	return &endpointParses{c, e, place, depends}
}

// client tells what a request says of its client: the first lines of the two fields.
type client interface {
	agent() string // User-Agent
	hint() string  // Sec-CH-UA-Mobile
}

// headerClient is the client of a request of net/http.
type headerClient http.Header

func (h headerClient) agent() string { return first(h["User-Agent"]) }
func (h headerClient) hint() string  { return first(h["Sec-Ch-Ua-Mobile"]) }

// keyFor keeps nothing but the strings of the request.
func (p *endpointParses) keyFor(query string, caller netip.Addr, by client, now time.Time) (k parseKey) {
	if p == nil {
		return k
	}
	k.endpoint, k.query = p.place, query
	if p.depends&catalog.OfAddress != 0 {
		k.addr = caller.As16()
	}
	if p.depends&catalog.OfAgent != 0 {
		k.agent = by.agent()
	}
	if p.depends&catalog.OfHint != 0 {
		k.hint = by.hint()
	}
	if p.depends&catalog.OfDay != 0 {
		k.day = catalog.DayOf(now)
	}
	return k
}

// find returns what a query means, or nil if that is not remembered.
func (p *endpointParses) find(key *parseKey) *parsedQuery {
	if p == nil || key.length() > longestParsed {
		return nil
	}
	found, _ := p.entries.GetIfPresent(*key)
	return found
}

// remember puts in what a query means that is asked by caller at now, if it came before.
func (p *endpointParses) remember(query string, caller catalog.Caller, now time.Time) {
	key := p.keyFor(query, caller.Addr, headerClient(caller.Header), now)
	if p == nil || key.length() > longestParsed || !p.again(&key) {
		return
	}
	// Its own texts, because the request's may be parts of much longer ones.
	key.query, key.agent, key.hint = strings.Clone(query), strings.Clone(key.agent), strings.Clone(key.hint)
	in, bad := p.endpoint.ParseAt(key.query, caller, func() time.Time { return now })
	if bad == nil {
		p.entries.Set(key, &parsedQuery{in, in.Key()})
	}
}

// first is the first line of a header, or "".
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
