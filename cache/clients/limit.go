package clients

import (
	"cmp"
	"sync"
)

// Parts of a resource that one client may hold: one in so many of what the other clients leave. So several clients together
// never hold all of it.
const (
	quarter = 4
	half    = 2
)

// Limit bounds the units of a resource that are held at the same time, in total and by one client: by a quarter, or by half of
// what the others leave. A nil Limit has no bounds; the zero value has no units. It is safe for concurrent use.
type Limit struct {
	mu    sync.Mutex
	total int64
	used  int64
	part  int64        // of one client; 0 means quarter
	by    map[ID]int64 // nil until a client holds some
}

// NewLimit returns a Limit of so many units; less than one means that there are none.
func NewLimit(total int64) *Limit { return &Limit{total: total} }

// NewHalves is NewLimit for a resource of which a client may hold half.
func NewHalves(total int64) *Limit { return &Limit{total: total, part: half} }

// Take takes n units for a client, and reports whether there were as many. A client without any gets its first ones
// wherever some are left; Nobody is bounded by the total alone. Give returns them.
func (l *Limit) Take(id ID, n int64) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > l.total-l.used || !l.inShare(id, n) {
		return false
	}
	l.used += n
	l.add(id, n)
	return true
}

// Share counts n units that other clients have taken in the share of this client too, and reports whether they are within it. Unshare
// removes them.
func (l *Limit) Share(id ID, n int64) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.inShare(id, n) {
		return false
	}
	l.add(id, n)
	return true
}

// add counts units in a client's share. The caller holds mu.
func (l *Limit) add(id ID, n int64) {
	switch {
	case id == Nobody:
	case l.by == nil:
		l.by = map[ID]int64{id: n}
	default:
		l.by[id] += n
	}
}

// Allows reports whether n more units are within the share of a client, whether or not as many are left.
func (l *Limit) Allows(id ID, n int64) bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inShare(id, n)
}

// inShare is Allows. The caller holds mu.
func (l *Limit) inShare(id ID, n int64) bool {
	own := l.by[id]
	return id == Nobody || own == 0 || own+n <= (l.total-l.used+own)/cmp.Or(l.part, quarter)
}

// Give returns n units of a client.
func (l *Limit) Give(id ID, n int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used -= n
	l.remove(id, n)
}

// Unshare removes n units from a client's share. They stay taken.
func (l *Limit) Unshare(id ID, n int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(id, n)
}

// remove undoes add. The caller holds mu.
func (l *Limit) remove(id ID, n int64) {
	if own := l.by[id]; own > n {
		l.by[id] = own - n
	} else {
		delete(l.by, id)
	}
}

// SetTotal changes the total. Units that are held stay so, even if they are more.
func (l *Limit) SetTotal(total int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total = total
}

// Used returns how many units are held.
func (l *Limit) Used() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used
}

// Total returns how many units there are.
func (l *Limit) Total() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total
}
