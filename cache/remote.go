package cache

import (
	"context"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Remote is the far tier as this package uses it. None of its methods fails:
// what it cannot do is a miss, or is left undone.
type Remote interface {
	// Look reads, in one round trip within its own small time budget, the value
	// of a key, the record of a fill of it that failed a moment ago (nil: none),
	// and whether somebody holds the lease.
	Look(ctx context.Context, key string) (value, failure []byte, leased bool)
	// Set never blocks.
	Set(key string, value []byte, ttl time.Duration)
	// Add is Set where there is no value; what is there stays.
	Add(key string, value []byte, ttl time.Duration)
	// Fail keeps the record of a fill that failed, for the others to see. It
	// never blocks.
	Fail(key string, record []byte, ttl time.Duration)
	// Delete removes a key, behind, if it can.
	Delete(key string)
	// Lease asks for the right to fill a key; release is never nil.
	Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func())
}

const (
	// farDecoded bounds what an entry from Redis may unpack to.
	farDecoded = 32 << 20
	// farDecoders is how many are unpacked at a time.
	farDecoders = 4
)

// packer packs entries for Redis. It works for any number of goroutines.
type packer struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(farDecoders), zstd.WithDecoderMaxMemory(farDecoded))
	return &packer{enc, dec}, err
}

// far looks into Redis and promotes what it finds there. A caller takes what is
// fresh or in grace; a fill in the background, which is there to renew, takes
// only what is not yet due for it.
func (f *fill) far(ctx context.Context) *landing {
	if !f.shared() {
		return nil
	}
	packed, record, _ := f.cache.far.Look(ctx, f.key)
	f.told = record
	if packed == nil {
		f.seen.farMiss.Inc()
		return nil
	}
	e, ok := f.unpack(packed)
	if !ok {
		return nil
	}
	f.had = e.meta.Created
	got, state := f.promote(e)
	switch {
	case state == Gone:
		f.seen.farMiss.Inc()
	case got != nil && (state == Fresh || !f.behind && state != Stale):
		f.seen.farHit.Inc()
		return got
	default:
		f.seen.farStale.Inc()
	}
	return nil
}

// shared tells whether the space's entries are in Redis, too.
func (s *Space) shared() bool { return s.cache.far != nil && !s.policy.Local }

// promote takes over an entry from Redis, and tells its state. It is none where
// this instance has one that it must not replace. What is gone is deleted, so
// that it is in the way of none.
func (f *fill) promote(e *entry) (*landing, State) {
	now := time.Now()
	state := f.state(e, now)
	if !usable(state) {
		f.cache.far.Delete(f.key)
		return nil, Gone
	}
	got := &landing{entry: e, tier: Far}
	if f.standIn(now) == nil || prefers(&e.meta, &f.copy.entry.meta) {
		f.cache.near.put(f.policy.Class, f.key, e)
		f.copy = got
		return got, state
	}
	if f.covered(now) && e.meta.weak() {
		return nil, state
	}
	return got, state
}

// unpack believes what comes from Redis no further than it was checked.
// Whatever is wrong with it is a miss.
func (s *Space) unpack(packed []byte) (*entry, bool) {
	if packed == nil {
		return nil, false
	}
	raw, err := s.cache.packer.dec.DecodeAll(packed, nil)
	if err != nil {
		s.seen.farBroken.Inc()
		return nil, false
	}
	e, err := parse(raw)
	if err != nil || e.check(time.Now()) != nil {
		s.seen.farBroken.Inc()
		return nil, false
	}
	return &e, true
}

// toFar writes behind the answer.
func (s *Space) toFar(key string, e *entry) {
	if s.shared() && !s.cache.behind.add(len(e.raw), func() { s.write(key, e) }) {
		s.cache.seen.unwritten.Inc()
	}
}

// write packs an entry for Redis, unless a purge or a drop meant it since. What
// is weak takes nobody's place there.
func (s *Space) write(key string, e *entry) {
	now := time.Now()
	if s.overtaken(key, &e.meta, now) || len(e.raw) > farDecoded {
		return
	}
	set := s.cache.far.Set
	if e.meta.weak() {
		set = s.cache.far.Add
	}
	set(key, s.cache.packer.enc.EncodeAll(e.raw, nil), s.policy.Keep(&e.meta)-now.Sub(e.meta.Created))
}

// Bounds of what waits to be packed for Redis.
const (
	behindJobs  = 1024
	behindBytes = 32 << 20
)

// behind carries out, one after another, what is to be done in Redis once the
// callers have been answered: entries are packed there, and what is about the
// same key keeps its order. No goroutine is kept for it while nothing waits.
// The zero value is ready.
type behind struct {
	mu      sync.Mutex
	jobs    []behindJob
	bytes   int
	working chan struct{} // closed when all is done; nil while nothing waits
}

type behindJob struct {
	do    func()
	bytes int
}

// add never blocks. It refuses a job of many bytes when too much waits; those
// of none are few, and must not be lost.
func (b *behind) add(bytes int, do func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > 0 && (b.bytes+bytes > behindBytes || len(b.jobs) >= behindJobs) {
		return false
	}
	b.jobs = append(b.jobs, behindJob{do, bytes})
	b.bytes += bytes
	if b.working == nil {
		b.working = make(chan struct{})
		go b.work()
	}
	return true
}

func (b *behind) work() {
	for {
		j, ok := b.next()
		if !ok {
			return
		}
		j.do()
		b.mu.Lock()
		b.bytes -= j.bytes
		b.mu.Unlock()
	}
}

func (b *behind) next() (behindJob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		close(b.working)
		b.jobs, b.working = nil, nil
		return behindJob{}, false
	}
	j := b.jobs[0]
	b.jobs[0] = behindJob{} // or its entry would live as long as the queue
	b.jobs = b.jobs[1:]
	return j, true
}

// wait returns when all that was added is done.
func (b *behind) wait() {
	b.mu.Lock()
	working := b.working
	b.mu.Unlock()
	if working != nil {
		<-working
	}
}
