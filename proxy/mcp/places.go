package mcp

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sundry/cache/clients"
)

const (
	// placeSize is for how many bytes of a message a place is taken, in addition to one.
	placeSize = 8 << 10
	// clientPart of all places is what one client may take.
	clientPart = 4
	// arrivesWithin is how long a message may be on its way whatever others want. Most come
	// with the head of their request.
	arrivesWithin = 250 * time.Millisecond
)

// Places bounds the messages that are read and answered at once, by their size. A place is
// taken before a message is read. Where there is none, the message that has been on its way
// for longest makes room, so that slow ones cannot keep the others out.
type Places struct {
	*semaphore.Weighted
	most int64

	mu      sync.Mutex
	clients map[clients.ID]int64 // the places of each
	reading *list.List           // of *place: messages on their way, the oldest first
}

// NewPlaces returns so many places.
func NewPlaces(n int64) *Places {
	return &Places{Weighted: semaphore.NewWeighted(n), most: n, clients: map[clients.ID]int64{}, reading: list.New()}
}

// place is what a message has taken.
type place struct {
	places  *Places
	client  clients.ID
	n       int64
	since   time.Time
	cut     func()
	reading *list.Element // nil: it has arrived, or was cut off
}

// take takes what a message of so many bytes needs; nil if there is not as much. cut is
// called, once at most, where the message has to make room: it ends the reading.
func (p *Places) take(client clients.ID, bytes int64, now time.Time, cut func()) *place {
	n := &place{places: p, client: client, n: places(bytes), since: now, cut: cut}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.canMakeRoom(n) {
		return nil
	}
	for own := p.overdrawn(n) > 0; own || !p.TryAcquire(n.n); own = p.overdrawn(n) > 0 {
		p.makeRoom(n, own)
	}
	p.clients[n.client] += n.n
	n.reading = p.reading.PushBack(n)
	return n
}

// places are what a message of so many bytes needs.
func places(bytes int64) int64 { return 1 + bytes/placeSize }

// overdrawn is how much more than it may the client would have taken with a message; not above
// zero: none.
func (p *Places) overdrawn(n *place) int64 {
	if n.client == clients.Nobody {
		return 0
	}
	return p.clients[n.client] + n.n - p.most/clientPart
}

// canMakeRoom reports whether there is room for a message, or would be without those that may
// be cut off: not such as came a moment ago.
func (p *Places) canMakeRoom(n *place) bool {
	own, all := p.overdrawn(n), n.n
	for e := p.reading.Front(); e != nil && (own > 0 || all > 0); e = e.Next() {
		slow := e.Value.(*place)
		if n.since.Sub(slow.since) < arrivesWithin {
			break
		}
		if all -= slow.n; slow.client == n.client {
			own -= slow.n
		}
	}
	all = max(all, 0)
	if own > 0 || !p.TryAcquire(all) {
		return false
	}
	p.Release(all)
	return true
}

// makeRoom cuts off the message that has been on its way for longest: of those of the same
// client, if own.
func (p *Places) makeRoom(n *place, own bool) {
	e := p.reading.Front()
	for own && e.Value.(*place).client != n.client {
		e = e.Next()
	}
	slow := e.Value.(*place)
	slow.cut()
	p.give(slow, slow.n)
	slow.arrive()
}

// give gives back some of what a message has taken.
func (p *Places) give(of *place, n int64) {
	p.Release(n)
	of.n -= n
	if p.clients[of.client] -= n; p.clients[of.client] == 0 {
		delete(p.clients, of.client)
	}
}

func (n *place) arrive() {
	n.places.reading.Remove(n.reading)
	n.reading = nil
}

// arrived notes that the message has been read and has so many bytes. It reports false for
// one that was cut off.
func (n *place) arrived(bytes int64) bool {
	p := n.places
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.reading == nil {
		return false
	}
	n.arrive()
	p.give(n, max(n.n-places(bytes), 0))
	return true
}

// release gives everything back.
func (n *place) release() {
	p := n.places
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.reading != nil {
		n.arrive()
	}
	if n.n > 0 {
		p.give(n, n.n)
	}
}
