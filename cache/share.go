package cache

import (
	"encoding/binary"
	"strings"
	"sync"
)

const (
	// endpointShare is the part of a class that one endpoint may fill while
	// others keep something there.
	endpointShare = 0.5
	// spans divide a turnover: as many are remembered, and the one that is being
	// written.
	spans = 16
	// moves bounds how many bytes are moved for each byte that is written, of
	// which some may be saved up: a longer run of others' values loses one in so
	// many, rather than that who writes waits for all of them.
	moves = 16
	saved = 32 << 20
	// valueRoom is what bigcache writes beside a key and its value.
	valueRoom = 24
)

// turnover keeps a flood of one endpoint's keys from driving out what others
// keep. A class is a queue: it holds what was written last, as many bytes as it
// has room for. While more than its share of these are one endpoint's, values of
// others that come to the queue's end are moved to its beginning, until one of
// that endpoint's comes, which is driven out.
type turnover struct {
	mu    sync.Mutex // held by whoever writes to the class
	span  int        // bytes
	share int        // bytes that an endpoint may have written of the last turnover

	by     map[string]int            // bytes of the last turnover, by endpoint
	recent [spans + 1]map[string]int // the same by span, a ring
	at     int                       // the span that is being written
	filled int                       // bytes of it
	over   string                    // the endpoint that has more than its share; "": none has
	credit int                       // bytes that may be moved
	last   []stored                  // what came to the queue's end during a write
}

type stored struct {
	key   string
	value []byte
}

func newTurnover(size int) *turnover {
	t := &turnover{span: size / spans, share: int(endpointShare * float64(size)), by: map[string]int{}}
	for i := range t.recent {
		t.recent[i] = map[string]int{}
	}
	return t
}

// wrote counts what an endpoint has written; "" stands for nobody, who has no
// share.
func (t *turnover) wrote(endpoint string, bytes int) {
	t.by[endpoint] += bytes
	t.recent[t.at][endpoint] += bytes
	for t.filled += bytes; t.filled >= t.span; t.filled -= t.span {
		t.turn()
	}
	if t.by[endpoint] > t.share {
		t.over = endpoint
	}
	if t.by[t.over] <= t.share {
		t.over = ""
	}
}

// turn forgets the oldest span, in whose place the next one is written.
func (t *turnover) turn() {
	t.at = (t.at + 1) % len(t.recent)
	for endpoint, bytes := range t.recent[t.at] {
		if t.by[endpoint] -= bytes; t.by[endpoint] == 0 {
			delete(t.by, endpoint)
		}
	}
	clear(t.recent[t.at])
}

// spares tells whether a value is to be moved rather than driven out.
func (t *turnover) spares(key string) bool { return t.over != "" && endpointOf(key) != t.over }

// endpointOf is the endpoint that a key belongs to.
func endpointOf(key string) string {
	space, _, ok := strings.Cut(key, ":")
	if !ok {
		return ""
	}
	endpoint, _, _ := strings.Cut(space, "/")
	return endpoint
}

// write stores a value, and moves what is spared for it. The class's lock is
// held.
func (m *memory) write(class Class, key string, value []byte) error {
	t := m.turn[class]
	t.credit = min(t.span*spans/4, saved, t.credit+moves*len(value))
	if err := m.push(class, key, value); err != nil {
		return err
	}
	for len(t.last) > 0 {
		v := t.last[0]
		t.last = t.last[1:]
		if !t.spares(v.key) || t.credit < len(v.value) || !m.current(class, v.key) || m.push(class, v.key, v.value) != nil {
			m.seen.evicted[class].Add(1)
			continue
		}
		m.seen.spared[class].Add(1)
		t.credit -= len(v.value)
	}
	t.last = nil
	return nil
}

func (m *memory) push(class Class, key string, value []byte) error {
	m.turn[class].wrote(endpointOf(key), len(key)+len(value)+valueRoom)
	return m.class[class].Set(key, value)
}

// current tells whether a value that came to the queue's end is still of use: a
// part is while its head names it.
func (m *memory) current(class Class, key string) bool {
	whole, part, isPart := strings.Cut(key, "\x00")
	if !isPart {
		return true
	}
	gen := binary.LittleEndian.Uint64([]byte(part[:8]))
	for _, of := range [...]Class{class, Keyed, Shared} {
		if e, ok := m.head(of, whole); ok && e.gen == gen && e.partsIn(of) == class {
			return true
		}
	}
	return false
}
