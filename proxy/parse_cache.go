package proxy

import (
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
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
	// parseWays are the slots of a set. A query may be in either of two sets: of 10,000 queries with one
	// set each, 3.6 in 100 requests find theirs taken (row zipf of deploy/bench), and with two none.
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
//
// A query that holds what only some know is not kept: it is known by its digest, with
// nothing of what it means but what the lane needs to send an answer.
type parseCache struct {
	seed  maphash.Seed
	key   [32]byte // of digests
	slots [parseSlots]atomic.Pointer[parsedQuery]
	once  [parsedOnce]atomic.Uint32 // the last query of each slot, by hash
}

// parseKey is everything that decides what a query means.
type parseKey struct {
	endpoint int // its place in the catalog
	query    string
	digest   [16]byte // of a query that is not kept, in place of it
	circumstances
}

// circumstances are those of a request that an endpoint depends on; the others are zero.
type circumstances struct {
	addr        [16]byte
	agent, hint string // User-Agent and Sec-CH-UA-Mobile
	day         int64
}

// parsedQuery is a query that is known. It is immutable.
type parsedQuery struct {
	parseKey
	means []meaning // one of these, all as likely
}

// meaning is what a query means.
type meaning struct {
	in  catalog.Input // without values where the query is not kept
	key string        // of the answer
}

func (p *parsedQuery) pick() *meaning {
	if len(p.means) == 1 {
		return &p.means[0]
	}
	return &p.means[rand.IntN(len(p.means))]
}

func newParseCache() *parseCache {
	c := &parseCache{seed: maphash.MakeSeed()}
	_, _ = cryptorand.Read(c.key[:]) // never fails
	return c
}

func (k *parseKey) length() int { return len(k.query) + len(k.agent) + len(k.hint) }

// slot is one of those in which a query with that hash may be, those of its first set before those
// of its second.
func (c *parseCache) slot(hash uint64, n int) *atomic.Pointer[parsedQuery] {
	if n >= parseWays {
		hash = bits.RotateLeft64(hash, 32)
	}
	set := hash % (parseSlots / parseWays)
	return &c.slots[set*parseWays+uint64(n%parseWays)]
}

// again reports whether a query came before, not long ago.
func (c *parseCache) again(hash uint64) bool {
	slot, mark := &c.once[hash>>32%parsedOnce], uint32(hash)|1
	return slot.Load() == mark || slot.Swap(mark) == mark
}

// put stores a query in a free slot, or in the place of another.
func (c *parseCache) put(p *parsedQuery, hash uint64) {
	for n := range 2 * parseWays {
		if c.slot(hash, n).CompareAndSwap(nil, p) {
			return
		}
	}
	c.slot(hash, rand.IntN(2*parseWays)).Store(p)
}

// endpointParses is the part of the parse cache that belongs to an endpoint. Nil
// remembers nothing.
type endpointParses struct {
	*parseCache
	endpoint *catalog.Endpoint
	place    int // in the catalog
	depends  catalog.Circumstances
	secret   bool // queries are known by their digests
}

// of returns nil for an endpoint whose queries mean something else each time.
func (c *parseCache) of(e *catalog.Endpoint, place int) *endpointParses {
	depends := e.Circumstances()
	if depends&catalog.OfChance != 0 && !e.DrawsOne() {
		return nil
	}
	return &endpointParses{c, e, place, depends, e.TakesSecrets()}
}

// keepsValues reports whether what is found has the values of the query, so that an
// answer can be fetched by it.
func (p *endpointParses) keepsValues() bool { return p != nil && !p.secret }

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
	if p.secret && len(query) <= longestParsed {
		k.query, k.digest = "", p.digestOf(query)
	}
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

// digestOf is a keyed hash of a query. It is a cryptographic one, because an answer goes to
// whoever asks a query with the same: nobody can find two.
func (p *endpointParses) digestOf(query string) (d [16]byte) {
	var text [len(p.key) + longestParsed]byte
	n := copy(text[:], p.key[:])
	n += copy(text[n:], query)
	sum := sha256.Sum256(text[:n])
	copy(d[:], sum[:])
	return d
}

func (p *endpointParses) hash(k *parseKey) uint64 {
	hash := maphash.String(p.seed, k.query) + uint64(k.endpoint)*1e9
	if p.secret {
		hash += binary.LittleEndian.Uint64(k.digest[:])
	}
	if p.depends == 0 {
		return hash
	}
	return hash ^ maphash.Comparable(p.seed, k.circumstances)
}

// matches reports whether a remembered query is the one that is asked.
func (p *endpointParses) matches(found *parsedQuery, key *parseKey) bool {
	return found.endpoint == key.endpoint && found.query == key.query && found.digest == key.digest &&
		(p.depends == 0 || found.circumstances == key.circumstances)
}

// find returns what a query means, this time; nil: that is not remembered.
func (p *endpointParses) find(key *parseKey) *meaning {
	if p == nil || key.length() > longestParsed {
		return nil
	}
	hash := p.hash(key)
	for n := range 2 * parseWays {
		if found := p.slot(hash, n).Load(); found != nil && p.matches(found, key) {
			return found.pick()
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
	query, key.agent, key.hint = strings.Clone(query), strings.Clone(key.agent), strings.Clone(key.hint)
	in, bad := p.endpoint.ParseAt(query, caller, func() time.Time { return now })
	if bad != nil {
		return
	}
	parsed := &parsedQuery{parseKey: key}
	for _, in := range in.Draws() {
		m := meaning{in, in.Key()}
		if p.secret {
			m.in = in.WithoutValues()
		}
		parsed.means = append(parsed.means, m)
	}
	if !p.secret {
		parsed.query = query
	}
	p.put(parsed, hash)
}

// first is the first line of a header, or "".
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
