package express

import (
	"errors"
	"sync"

	"sundry/cache/clients"
)

// segment is the unit of Unsent. Bodies up to this size are not counted: the connection of each takes about as much.
const segment = 64 << 10

// ErrUnsent means that too much memory holds bodies which a client, or all of them, have not taken yet.
var ErrUnsent = errors.New("too many responses wait to be read")

// Unsent limits the memory of bodies that clients are being sent. A stored one stays in memory until its slowest reader has it, even if
// the store evicts it. A body that several clients read at the same time counts once in the total, and in the share of each of them. nil
// means no limit. It is safe for concurrent use.
type Unsent struct {
	memory *clients.Limit

	mu      sync.Mutex
	bodies  map[*byte]int      // how often each is being read, by its first byte
	readers map[unsentBody]int // how often by each client
}

// unsentBody is a body that a client reads.
type unsentBody struct {
	client clients.ID
	first  *byte
}

// NewUnsent returns the limit of so many bytes.
func NewUnsent(bytes int64) *Unsent {
	return &Unsent{memory: clients.NewLimit(bytes / segment), bodies: map[*byte]int{}, readers: map[unsentBody]int{}}
}

// Hold counts a body that a client begins to read. The error is ErrUnsent; else the caller calls Release once it is read.
func (u *Unsent) Hold(client clients.ID, body []byte) error {
	if u == nil || len(body) <= segment {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	b, units, ok := unsentBody{client, &body[0]}, unsentUnits(body), true
	switch {
	case u.bodies[b.first] == 0:
		ok = u.memory.Take(client, units)
	case u.readers[b] == 0:
		ok = u.memory.Share(client, units)
	}
	if !ok {
		return ErrUnsent
	}
	u.bodies[b.first]++
	u.readers[b]++
	return nil
}

// Release ends one Hold that returned nil, of the same client and body.
func (u *Unsent) Release(client clients.ID, body []byte) {
	if u == nil || len(body) <= segment {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	b := unsentBody{client, &body[0]}
	last, lastOfClient := countDown(u.bodies, b.first), countDown(u.readers, b)
	switch {
	case last:
		u.memory.Give(client, unsentUnits(body))
	case lastOfClient:
		u.memory.Unshare(client, unsentUnits(body))
	}
}

// unsentUnits returns the number of segments of a body that count.
func unsentUnits(body []byte) int64 { return int64(len(body)-1) / segment }

// countDown reduces a count by one, and reports whether it was the last.
func countDown[K comparable](counts map[K]int, k K) bool {
	counts[k]--
	if counts[k] > 0 {
		return false
	}
	delete(counts, k)
	return true
}
