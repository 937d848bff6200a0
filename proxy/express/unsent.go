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
// the store evicts it. A body that several clients read at the same time counts once, for the client that began first. nil means no
// limit. It is safe for concurrent use.
type Unsent struct {
	memory *clients.Limit

	mu     sync.Mutex
	bodies map[*byte]*unsentBody // by their first byte
}

// unsentBody is a body with readers.
type unsentBody struct {
	client  clients.ID
	units   int64
	readers int
}

// NewUnsent returns the limit of so many bytes.
func NewUnsent(bytes int64) *Unsent {
	return &Unsent{memory: clients.NewLimit(bytes / segment), bodies: map[*byte]*unsentBody{}}
}

// Hold counts a body that a client begins to read. The error is ErrUnsent; else the caller calls Release once it is read.
func (u *Unsent) Hold(client clients.ID, body []byte) error {
	if u == nil || len(body) <= segment {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	b := u.bodies[&body[0]]
	if b == nil {
		b = &unsentBody{client: client, units: int64(len(body)-1) / segment}
		if !u.memory.Take(client, b.units) {
			return ErrUnsent
		}
		u.bodies[&body[0]] = b
	}
	b.readers++
	return nil
}

// Release says that a reader for which Hold returned nil has ended.
func (u *Unsent) Release(body []byte) {
	if u == nil || len(body) <= segment {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	b := u.bodies[&body[0]]
	if b.readers--; b.readers == 0 {
		delete(u.bodies, &body[0])
		u.memory.Give(b.client, b.units)
	}
}
