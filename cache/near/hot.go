package near

import (
	"hash/maphash"
	"iter"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"

	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/metrics/panics"
)

const (
	// hotShare of the cap is given to the hot table.
	hotShare = 1.0 / 8
	// hotEntryShare is the part of the hot table that one entry may take.
	hotEntryShare = 0.5
	// hotOverhead is what the table needs beside an entry's key and its bytes.
	hotOverhead = 400
	// RefreshLook is how often a hit of an entry that is due for a refresh looks
	// whether that is running.
	RefreshLook = 50 * time.Millisecond
	// joinEvery: one of so many reads of a split entry joins its parts for the hot
	// table. It bounds what is spent on entries that the table does not admit.
	joinEvery = 16
)

// hotTable holds the entries that are read most, whole and decoded, in front of
// bigcache: a hit copies and allocates nothing. It is bounded in bytes. Entries that
// were read once do not displace those that are read often (W-TinyLFU).
//
// An entry comes here when it is read from bigcache, or when one is stored whose
// predecessor is here. Everything here was written to bigcache before, and a write
// there replaces it here: see version.
type hotTable struct {
	table   *otter.Cache[string, *Hot]
	limit   int // bytes
	largest int // bytes of one entry
	panics  *panics.Catcher
	evicted atomic.Uint64

	seed     maphash.Seed
	versions [1 << 10]atomic.Uint32 // by hash of the key
	offers   [1 << 8]atomic.Uint32  // reads of split entries, by hash of the key
	joining  atomic.Bool

	coder   *coder
	workers sync.WaitGroup
}

// Hot is an entry of the hot table. It is immutable, but for what it remembers of
// its use.
type Hot struct {
	entry.Entry
	Key      string
	Hash     uint64 // of the key
	deadline atomic.Pointer[policyDeadline]
	// refreshFrom is the time in Unix nanoseconds before which no hit looks whether a
	// refresh is to be started.
	refreshFrom atomic.Int64
	codings     []formCodings // by form
}

// policyDeadline is the deadline of an entry under a policy.
type policyDeadline struct {
	policy *policy.Policy
	at     time.Time
}

func newHotTable(limit int, p *panics.Catcher) (*hotTable, error) {
	h := &hotTable{panics: p, limit: limit, largest: int(hotEntryShare * float64(limit)), seed: maphash.MakeSeed()}
	var err error
	if h.coder, err = newCoder(); err != nil {
		return nil, err
	}
	h.table, err = otter.New(&otter.Options[string, *Hot]{
		MaximumWeight: uint64(limit),
		Weigher:       func(_ string, r *Hot) uint32 { return r.weight() },
		OnAtomicDeletion: func(e otter.DeletionEvent[string, *Hot]) {
			if e.WasEvicted() {
				h.evicted.Add(1)
			}
		},
	})
	return h, err
}

// Hot returns the entry of a key in the hot table; nil means that there is none.
func (m *Memory) Hot(key string) *Hot {
	r, _ := m.hot.table.GetIfPresent(key)
	return r
}

// AllHot returns all entries of the hot table by their keys, in no order.
func (m *Memory) AllHot() iter.Seq2[string, *Hot] { return m.hot.table.All() }

// Hash returns a hash of a key, another one in each process.
func (m *Memory) Hash(key string) uint64 { return m.hot.hash(key) }

// Wait waits for what goes on in the background: parts that are joined, and bodies that are compressed.
func (m *Memory) Wait() {
	m.hot.workers.Wait()
	m.hot.table.CleanUp()
}

// version changes with every write of the key. A reader of bigcache takes it before
// it reads, and what it read enters the table only if it is still the same.
func (h *hotTable) version(key string) uint32 { return h.versionOf(key).Load() }

func (h *hotTable) versionOf(key string) *atomic.Uint32 {
	return &h.versions[h.hash(key)%uint64(len(h.versions))]
}

func (h *hotTable) hash(key string) uint64 { return maphash.String(h.seed, key) }

// stored replaces the key's entry, which was just written to bigcache. One that is
// not here enters only if all callers request it.
func (h *hotTable) stored(class policy.Class, key string, e *entry.Entry) {
	h.versionOf(key).Add(1)
	old, found := h.table.GetIfPresent(key)
	if e.Size() > h.largest || !found && class != policy.Shared {
		h.table.Invalidate(key)
		return
	}
	h.table.Set(key, h.newEntry(key, e, old))
}

// drop removes a key, whose entry was removed from bigcache or must not be served from
// here.
func (h *hotTable) drop(key string) {
	h.versionOf(key).Add(1)
	h.table.Invalidate(key)
}

// offer lets an entry enter that was read from bigcache at a version. The parts of
// a split one are joined in the background.
func (h *hotTable) offer(m *Memory, class policy.Class, key string, e *entry.Entry, version uint32) {
	switch {
	case e.Size() > h.largest:
	case !e.Split():
		h.enter(key, e, version)
	case h.turn(key) && h.joining.CompareAndSwap(false, true):
		h.workers.Go(h.panics.Func(panics.HotTable, func() {
			defer h.joining.Store(false)
			if whole, ok := m.Join(class, key, e); ok {
				h.enter(key, &whole, version)
			}
		}))
	}
}

// turn reports whether it is the turn of this read of a split entry to join it.
func (h *hotTable) turn(key string) bool {
	n := h.offers[h.hash(key)%uint64(len(h.offers))].Add(1)
	return n%joinEvery == 1
}

func (h *hotTable) enter(key string, e *entry.Entry, version uint32) {
	h.table.Compute(key, func(old *Hot, found bool) (*Hot, otter.ComputeOp) {
		if found || h.version(key) != version {
			return old, otter.CancelOp
		}
		return h.newEntry(key, e, nil), otter.WriteOp
	})
}

// newEntry keeps the codings of an old entry with the same content; nil: there is
// none.
func (h *hotTable) newEntry(key string, e *entry.Entry, old *Hot) *Hot {
	r := &Hot{Entry: *e, Key: key, Hash: h.hash(key)}
	if old != nil && old.Digest == e.Digest && len(old.codings) == e.Forms {
		r.codings = old.codings
	} else {
		r.codings = make([]formCodings, e.Forms)
	}
	return r
}

func (r *Hot) weight() uint32 {
	n := hotOverhead + len(r.Key) + len(r.Raw)
	for i := range r.codings {
		n += r.codings[i].size()
	}
	return uint32(min(uint64(n), math.MaxUint32))
}

// DeadlineUnder is Policy.Deadline, computed once per policy: a reload and a changed
// setting make a new one.
func (r *Hot) DeadlineUnder(p *policy.Policy) time.Time {
	if d := r.deadline.Load(); d != nil && d.policy == p {
		return d.at
	}
	at := p.Deadline(&r.Meta)
	r.deadline.Store(&policyDeadline{p, at})
	return at
}

// RefreshDue reports whether a hit at now has to look whether a refresh is to be
// started.
func (r *Hot) RefreshDue(now time.Time) bool { return now.UnixNano() >= r.refreshFrom.Load() }

// ClaimRefresh lets one of all hits look, once in RefreshLook: that takes locks.
func (r *Hot) ClaimRefresh(now time.Time) bool {
	from := r.refreshFrom.Load()
	return now.UnixNano() >= from && r.refreshFrom.CompareAndSwap(from, now.Add(RefreshLook).UnixNano())
}
