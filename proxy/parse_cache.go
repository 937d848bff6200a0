package proxy

import (
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"sundry/upstreams/catalog"
)

const (
	// parseSlots is how many queries of all endpoints are remembered at most. With
	// longestParsed, that bounds them to some 25 MB.
	parseSlots = 16 << 10
	// parseWays are the slots in which a query may be.
	parseWays = 2
	// longestParsed is the length of the longest query that is remembered, its client included.
	longestParsed = 512
	// parsedOnce is how many queries that came once are told from new ones.
	parsedOnce = 8 << 10
)

// parseCache remembers what the queries of all endpoints mean that come again and again,
// so that a hit parses nothing and allocates nothing: by BenchmarkParseCache, to find the
// simplest query takes 22 ns, and to parse it 128 ns and two allocations. Only those that
// were answered from the near tier twice are put in, so that what is asked once displaces
// nothing: scans, and queries with a time or a random callback in them. A reload begins
// with an empty one.
//
// Readers take no lock; they find a query by its hash, and then compare everything that
// decides its meaning.
type parseCache struct {
	seed  maphash.Seed
	slots [parseSlots]atomic.Pointer[parsedQuery]
	once  [parsedOnce]atomic.Uint32 // the last query of each slot, by hash
}

// parseKey is everything that decides what a query means.
type parseKey struct {
	endpoint int // its place in the catalog
	query    string
	circumstances
}

// circumstances are those of a request that an endpoint depends on; the others are zero.
type circumstances struct {
	addr        [16]byte
	agent, hint string // User-Agent and Sec-CH-UA-Mobile
	day         int64
}

// parsedQuery is what a query means. It is immutable.
type parsedQuery struct {
	parseKey
	in  catalog.Input
	key string // of the answer
}

func newParseCache() *parseCache { return &parseCache{seed: maphash.MakeSeed()} }

func (k *parseKey) length() int { return len(k.query) + len(k.agent) + len(k.hint) }

// ways are the slots in which a query with that hash may be.
func (c *parseCache) ways(hash uint64) []atomic.Pointer[parsedQuery] {
	set := hash % (parseSlots / parseWays)
	return c.slots[set*parseWays:][:parseWays]
}

// again reports whether a query came before, not long ago.
func (c *parseCache) again(hash uint64) bool {
	slot, mark := &c.once[hash>>32%parsedOnce], uint32(hash)|1
	return slot.Load() == mark || slot.Swap(mark) == mark
}

// put stores a query in a free slot, or in the place of another.
func (c *parseCache) put(p *parsedQuery, hash uint64) {
	ways := c.ways(hash)
	for i := range ways {
		if ways[i].CompareAndSwap(nil, p) {
			return
		}
	}
	ways[rand.IntN(len(ways))].Store(p)
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
	if p.depends == 0 {
		return k
	}
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

func (p *endpointParses) hash(k *parseKey) uint64 {
	hash := maphash.String(p.seed, k.query) + uint64(k.endpoint)*1e9
	if p.depends == 0 {
		return hash
	}
	return hash ^ maphash.Comparable(p.seed, k.circumstances)
}

// matches reports whether a remembered query is the one that is asked.
func (p *endpointParses) matches(found *parsedQuery, key *parseKey) bool {
	return found.endpoint == key.endpoint && found.query == key.query && (p.depends == 0 || found.circumstances == key.circumstances)
}

// find returns what a query means, or nil if that is not remembered.
func (p *endpointParses) find(key *parseKey) *parsedQuery {
	if p == nil || key.length() > longestParsed {
		return nil
	}
	ways := p.ways(p.hash(key))
	for i := range ways {
		if found := ways[i].Load(); found != nil && p.matches(found, key) {
			return found
		}
	}
	return nil
}

// remember puts in what a query means that is asked by caller at now, if it came before.
func (p *endpointParses) remember(query string, caller catalog.Caller, now time.Time) {
	key := p.keyFor(query, caller.Addr, headerClient(caller.Header), now)
	if p == nil || key.length() > longestParsed {
		return
	}
	hash := p.hash(&key)
	if !p.again(hash) || p.find(&key) != nil {
		return
	}
	// Its own texts, because the request's may be parts of much longer ones.
	key.query, key.agent, key.hint = strings.Clone(query), strings.Clone(key.agent), strings.Clone(key.hint)
	in, bad := p.endpoint.ParseAt(key.query, caller, func() time.Time { return now })
	if bad == nil {
		p.put(&parsedQuery{key, in, in.Key()}, hash)
	}
}

// first is the first line of a header, or "".
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
