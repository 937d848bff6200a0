package proxy

import (
	"encoding/binary"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/upstreams/catalog"
)

// Bounds of what is remembered.
const (
	// questionsBytes bounds the questions of all endpoints.
	questionsBytes = 16 << 20
	// fewestQuestions and mostQuestions are the slots of an endpoint's table, which
	// doubles whenever a quarter of them is taken.
	fewestQuestions, mostQuestions = 64, 32 << 10
	// questionWays are the slots in which a question may be: a cache line.
	questionWays = 4
	// longestQuestion is the length of the longest query that is remembered, and of the
	// longest User-Agent and hint.
	longestQuestion = 512
	// askedOnce is how many questions that were asked once are told from new ones.
	askedOnce = 8 << 10
	// questionOverhead is what a question takes besides its texts, in bytes.
	questionOverhead = 512
)

// questions remembers what the queries of an endpoint mean that are asked again and
// again, because to parse them takes longer than all else that a hit needs. Only
// those that were answered from the near tier twice are put in, so that what is asked
// once displaces nothing: scans, and queries with a time or a random callback in them. A reload begins with an empty table. Nil remembers nothing.
//
// Readers take no lock; they find a question by its hash, and then compare everything
// that decides its meaning.
type questions struct {
	endpoint *catalog.Endpoint
	depends  catalog.Circumstances
	seed     maphash.Seed
	slots    atomic.Pointer[[]questionSlot] // as many as a power of two

	mu     sync.Mutex // of writers
	count  int
	bytes  int64
	budget *questionBudget
}

// questionBudget is what may still be remembered, of all endpoints together, and
// which questions could be.
type questionBudget struct {
	free  atomic.Int64
	asked [askedOnce]atomic.Uint32 // the last of each slot, by hash
}

// again reports whether a question was asked before, not long ago.
func (b *questionBudget) again(hash uint64) bool {
	slot, mark := &b.asked[hash>>32%askedOnce], uint32(hash)|1
	return slot.Load() == mark || slot.Swap(mark) == mark
}

func newQuestionBudget() *questionBudget {
	b := &questionBudget{}
	b.free.Store(questionsBytes)
	return b
}

// questionSlot has the question's hash beside it, so that a look-up reads only the
// question that it looks for.
type questionSlot struct {
	hash     atomic.Uint64
	question atomic.Pointer[question]
}

// question is a query with its meaning under certain circumstances. It is immutable.
type question struct {
	query string         // the values of in are parts of it
	key   string         // of the answer; it stands behind the query in memory
	under *circumstances // nil: its endpoint depends on none
	in    catalog.Input
	hash  uint64
}

// circumstances are those of a request that an endpoint depends on; the others are zero.
type circumstances struct {
	addr        netip.Addr
	agent, hint string
	day         int64
}

// newQuestions returns nil for an endpoint of whose questions nothing may be
// remembered: they mean something else each time, or hold what only some know.
func newQuestions(e *catalog.Endpoint, budget *questionBudget) *questions {
	depends := e.Circumstances()
	if depends&catalog.OfChance != 0 || e.TakesSecrets() {
		return nil
	}
	q := &questions{endpoint: e, depends: depends, seed: maphash.MakeSeed(), budget: budget}
	slots := make([]questionSlot, fewestQuestions)
	q.slots.Store(&slots)
	return q
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

// under picks from a request what the endpoint depends on.
func (q *questions) under(caller netip.Addr, by client, now time.Time) (c circumstances) {
	if q == nil || q.depends == 0 {
		return c
	}
	if q.depends&catalog.OfAddress != 0 {
		c.addr = caller
	}
	if q.depends&catalog.OfAgent != 0 {
		c.agent = by.agent()
	}
	if q.depends&catalog.OfHint != 0 {
		c.hint = by.hint()
	}
	if q.depends&catalog.OfDay != 0 {
		c.day = catalog.DayOf(now)
	}
	return c
}

// find returns what a query means, or nil if that is not remembered. It keeps nothing
// of the strings.
func (q *questions) find(query string, under *circumstances) *question {
	if q == nil || len(query) > longestQuestion {
		return nil
	}
	hash := q.hash(query, under)
	ways := waysOf(*q.slots.Load(), hash)
	for i := range ways {
		if ways[i].hash.Load() != hash {
			continue
		}
		if found := ways[i].question.Load(); found != nil && found.is(query, under) {
			return found
		}
	}
	return nil
}

func (a *question) is(query string, under *circumstances) bool {
	return a.query == query && (a.under == nil || *a.under == *under)
}

func (q *questions) hash(query string, under *circumstances) uint64 {
	hash := maphash.String(q.seed, query)
	if q.depends == 0 {
		return hash
	}
	var b [40]byte
	addr := under.addr.As16()
	copy(b[:], addr[:])
	binary.LittleEndian.PutUint64(b[16:], uint64(under.day))
	if q.depends&(catalog.OfAgent|catalog.OfHint) != 0 {
		binary.LittleEndian.PutUint64(b[24:], maphash.String(q.seed, under.agent))
		binary.LittleEndian.PutUint64(b[32:], maphash.String(q.seed, under.hint))
	}
	return hash ^ maphash.Bytes(q.seed, b[:])
}

// waysOf are the slots in which a question with that hash may be.
func waysOf(slots []questionSlot, hash uint64) []questionSlot {
	set := int(hash) & (len(slots)/questionWays - 1)
	return slots[set*questionWays:][:questionWays]
}

// remember puts in what a query means when it is asked by caller at now, if it was
// asked before. It does not wait: what is not remembered this time is so the next.
func (q *questions) remember(query string, caller catalog.Caller, now time.Time) {
	if q == nil || len(query) > longestQuestion {
		return
	}
	under := q.under(caller.Addr, headerClient(caller.Header), now)
	if len(under.agent) > longestQuestion || len(under.hint) > longestQuestion || !q.budget.again(q.hash(query, &under)) {
		return
	}
	if !q.mu.TryLock() {
		return
	}
	defer q.mu.Unlock()
	if q.find(query, &under) != nil {
		return // another request was faster
	}
	if made := q.parse(query, &under, caller, now); made != nil {
		q.put(made)
	}
}

// parse makes a question that shares nothing with the request.
func (q *questions) parse(query string, under *circumstances, caller catalog.Caller, now time.Time) *question {
	clock := func() time.Time { return now }
	in, bad := q.endpoint.ParseAt(query, caller, clock)
	if bad != nil {
		return nil
	}
	text := query + in.Key() // parsed again, so that its values are parts of this one
	made := &question{hash: q.hash(query, under), query: text[:len(query)], key: text[len(query):]}
	if made.in, bad = q.endpoint.ParseAt(made.query, caller, clock); bad != nil {
		return nil
	}
	if q.depends != 0 {
		c := *under
		c.agent, c.hint = strings.Clone(c.agent), strings.Clone(c.hint)
		made.under = &c
	}
	return made
}

func (a *question) size() int64 {
	n := questionOverhead + len(a.query) + len(a.key)
	if a.under != nil {
		n += len(a.under.agent) + len(a.under.hint)
	}
	return int64(n)
}

// put stores a question in a free slot, or in the place of another. Like admission's
// share of places, an endpoint's questions may take as much memory as is left free.
func (q *questions) put(made *question) {
	slots := *q.slots.Load()
	if q.count >= len(slots)/4 && len(slots) < mostQuestions {
		slots = q.grow(slots)
	}
	slot := choose(waysOf(slots, made.hash))
	more, old := made.size(), slot.question.Load()
	if old != nil {
		more -= old.size()
	}
	if more > 0 && q.bytes+more > q.budget.free.Load()-more {
		return
	}
	if old == nil {
		q.count++
	}
	q.bytes += more
	q.budget.free.Add(-more)
	slot.set(made)
}

func (s *questionSlot) set(a *question) {
	s.question.Store(a)
	s.hash.Store(a.hash)
}

// choose a free slot, else any.
func choose(ways []questionSlot) *questionSlot {
	for i := range ways {
		if ways[i].question.Load() == nil {
			return &ways[i]
		}
	}
	return &ways[rand.IntN(len(ways))]
}

// grow doubles the table. Those of one set share two then, so all have a place.
func (q *questions) grow(slots []questionSlot) []questionSlot {
	more := make([]questionSlot, 2*len(slots))
	for i := range slots {
		if a := slots[i].question.Load(); a != nil {
			choose(waysOf(more, a.hash)).set(a)
		}
	}
	q.slots.Store(&more)
	return more
}

// first is the first line of a header, or "".
func first(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0]
}
