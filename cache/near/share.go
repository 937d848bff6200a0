package near

import (
	"encoding/binary"
	"strings"
	"sync"

	"sundry/cache/policy"
)

const (
	// endpointShare is the part of a class that one endpoint may fill while
	// others keep something there.
	endpointShare = 0.5
	// spans is how many parts of equal size a class's queue is counted in. One more,
	// the newest, is being written.
	spans = 16
	// moveFactor bounds how many bytes are moved per byte written, and
	// maxMoveBudget the budget for moving that writes may save up. When it is used
	// up, values are evicted instead, so that no write waits for long.
	moveFactor    = 16
	maxMoveBudget = 32 << 20
	// valueOverhead is what bigcache stores beside a key and its value.
	valueOverhead = 24
)

// endpointShares keep a flood of one endpoint's keys from evicting the entries of
// others. A class is a queue that holds the last bytes written, up to its
// capacity. While one endpoint has more than its share of them, values of others
// that reach the queue's end are moved back to its beginning, until one of that
// endpoint's arrives and is evicted.
type endpointShares struct {
	mu    sync.Mutex // held while the class is written to
	span  int        // bytes
	share int        // bytes of the queue that one endpoint may have

	byEndpoint map[string]int            // bytes in the queue, by endpoint
	recent     [spans + 1]map[string]int // the same by span, a ring
	current    int                       // the span that is being written
	filled     int                       // bytes of it
	overShare  string                    // the endpoint with more than its share; "": none
	moveBudget int                       // bytes that may be moved
	evicted    []evictedValue            // values that reached the queue's end during a write
}

type evictedValue struct {
	key   string
	value []byte
}

func newEndpointShares(size int) *endpointShares {
	t := &endpointShares{span: size / spans, share: int(endpointShare * float64(size)), byEndpoint: map[string]int{}}
	for i := range t.recent {
		t.recent[i] = map[string]int{}
	}
	return t
}

// count adds bytes that an endpoint has written; "" stands for no endpoint, and
// has no share.
func (t *endpointShares) count(endpoint string, bytes int) {
	t.byEndpoint[endpoint] += bytes
	t.recent[t.current][endpoint] += bytes
	for t.filled += bytes; t.filled >= t.span; t.filled -= t.span {
		t.nextSpan()
	}
	if t.byEndpoint[endpoint] > t.share {
		t.overShare = endpoint
	}
	if t.byEndpoint[t.overShare] <= t.share {
		t.overShare = ""
	}
}

// nextSpan forgets the oldest span, which the next one overwrites.
func (t *endpointShares) nextSpan() {
	t.current = (t.current + 1) % len(t.recent)
	for endpoint, bytes := range t.recent[t.current] {
		if t.byEndpoint[endpoint] -= bytes; t.byEndpoint[endpoint] == 0 {
			delete(t.byEndpoint, endpoint)
		}
	}
	clear(t.recent[t.current])
}

// spares reports whether a value is to be moved rather than evicted.
func (t *endpointShares) spares(key string) bool {
	return t.overShare != "" && endpointOf(key) != t.overShare
}

// endpointOf is the endpoint that a key belongs to.
func endpointOf(key string) string {
	space, _, ok := strings.Cut(key, ":")
	if !ok {
		return ""
	}
	endpoint, _, _ := strings.Cut(space, "/")
	return endpoint
}

// write stores a value, and moves the values of others that it would evict. The
// class's lock is held.
func (m *Memory) write(class policy.Class, key string, value []byte) error {
	t := m.shares[class]
	t.moveBudget = min(t.span*spans/4, maxMoveBudget, t.moveBudget+moveFactor*len(value))
	if err := m.push(class, key, value); err != nil {
		return err
	}
	for len(t.evicted) > 0 {
		v := t.evicted[0]
		t.evicted = t.evicted[1:]
		if !t.spares(v.key) || t.moveBudget < len(v.value) || !m.inUse(class, v.key) || m.push(class, v.key, v.value) != nil {
			m.counters[class].evicted.Add(1)
			continue
		}
		m.counters[class].spared.Add(1)
		t.moveBudget -= len(v.value)
	}
	t.evicted = nil
	return nil
}

func (m *Memory) push(class policy.Class, key string, value []byte) error {
	m.shares[class].count(endpointOf(key), len(key)+len(value)+valueOverhead)
	return m.class[class].Set(key, value)
}

// inUse reports whether a value that reached the queue's end still belongs to an
// entry: a part does while its head names it.
func (m *Memory) inUse(class policy.Class, key string) bool {
	whole, part, isPart := strings.Cut(key, "\x00")
	if !isPart {
		return true
	}
	gen := binary.LittleEndian.Uint64([]byte(part[:8]))
	for _, of := range [...]policy.Class{class, policy.Keyed, policy.Shared} {
		if e, ok := m.Stored(of, whole); ok && e.Generation == gen && ClassOfParts(of, &e) == class {
			return true
		}
	}
	return false
}
