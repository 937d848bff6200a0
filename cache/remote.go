package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Remote is the far tier as this package uses it. None of its methods returns an
// error: what cannot be read is a miss, what cannot be written is dropped.
type Remote interface {
	// Look reads, in one round trip within its own small time budget, the value
	// of a key, the record of its last fill if that failed a moment ago (nil:
	// none), and whether its lease is held.
	Look(ctx context.Context, key string) (value, failure []byte, leased bool)
	// Set never blocks.
	Set(key string, value []byte, ttl time.Duration)
	// Replace is Set for a value that replaces an older one. Once it is written, the
	// other instances are told that there is one created then.
	Replace(key string, value []byte, ttl time.Duration, created time.Time)
	// Add is Set, unless there is a value.
	Add(key string, value []byte, ttl time.Duration)
	// Fail stores the record of a failed fill for the other instances. It never
	// blocks.
	Fail(key string, record []byte, ttl time.Duration)
	// Delete removes a key. It never blocks.
	Delete(key string)
	// Lease asks for the right to fill a key; release is never nil.
	Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func())
	// Want asks whoever holds a key's lease to announce its release, and returns how
	// long the lease lasts if its holder has died; 0: there is none, or that cannot be
	// read.
	Want(ctx context.Context, key string) (left time.Duration)
	// Listen calls replaced and ended, one call after the other, for the announcements
	// of all instances, until ctx ends: that a key has a new value created then, and that
	// the lease of a key was released that was wanted. Announcements may be lost,
	// repeated or false. It calls hears with true when it begins to hear them, at first and
	// after each outage: those of before are lost; and with false while it does not.
	Listen(ctx context.Context, replaced func(key string, created time.Time), ended func(key string), hears func(bool))
}

const (
	// maxFarEntry bounds the size of an entry in Redis, decompressed.
	maxFarEntry = 32 << 20
	// decompressors is how many entries are decompressed at a time.
	decompressors = 4
	// minPacked is the size from which entries are compressed for Redis: to decompress
	// a smaller one takes longer than to read all its bytes.
	minPacked = 4 << 10
)

// compressor compresses entries for Redis. What it writes begins either as every entry
// does, with the version of the layout, or as every zstd frame. It is safe for
// concurrent use.
type compressor struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCompressor() (*compressor, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(decompressors), zstd.WithDecoderMaxMemory(maxFarEntry))
	return &compressor{enc, dec}, err
}

// pack may return raw itself.
func (c *compressor) pack(raw []byte) []byte {
	if len(raw) < minPacked {
		return raw
	}
	if packed := worthwhile(c.enc.EncodeAll(raw, nil), raw); packed != nil {
		return packed
	}
	return raw
}

var errTooLarge = errors.New("entry that is too large")

// unpack may return packed itself.
func (c *compressor) unpack(packed []byte) ([]byte, error) {
	switch {
	case len(packed) == 0 || packed[0] != layoutVersion:
		return c.dec.DecodeAll(packed, nil)
	case len(packed) > maxFarEntry:
		return nil, errTooLarge
	}
	return packed, nil
}

// checkFar looks into Redis and promotes what it finds there. A caller gets an
// entry that is fresh or in grace; a refresh only one that is not due for a
// refresh itself.
func (f *fill) checkFar(ctx context.Context) *flightResult {
	if !f.usesFar() {
		return nil
	}
	outage := f.cache.near.missed.Load()
	packed, record, leased := f.cache.far.Look(ctx, f.key)
	outage.look(f.cache.near.hot.hash(f.key))
	f.farFailure, f.farLeased = record, leased
	if packed == nil {
		f.metrics.farMiss.Inc()
		return nil
	}
	e, ok := f.unpack(packed)
	if !ok {
		return nil
	}
	f.farCreated = e.meta.Created
	got, state := f.promote(e)
	switch {
	case state == Gone:
		f.metrics.farMiss.Inc()
	case got != nil && (state == Fresh || !f.background && state != Stale):
		f.metrics.farHit.Inc()
		return got
	default:
		f.metrics.farStale.Inc()
	}
	return nil
}

// usesFar reports whether the space's entries are also kept in Redis.
func (s *Space) usesFar() bool { return s.cache.far != nil && !s.policy.Local }

// promote copies an entry from Redis to the near tier, and returns its state. The
// result is nil where it must not replace this instance's own copy. An entry that
// is gone is deleted, or it would keep negative answers out (see writeNow).
func (f *fill) promote(e *entry) (*flightResult, State) {
	now := time.Now()
	state := f.stateOf(e, now)
	if !usable(state) {
		f.cache.far.Delete(f.key)
		return nil, Gone
	}
	got := &flightResult{entry: e, tier: Far}
	if f.usableCopy(now) == nil || prefers(&e.meta, &f.copy.entry.meta) {
		f.cache.near.put(f.policy.Class, f.key, e)
		f.removeIfPurged(f.key, e)
		f.copy = got
		return got, state
	}
	if f.hasCopy(now) && e.meta.replaceable() {
		return nil, state
	}
	return got, state
}

// unpack reads an entry from Redis, which is not trusted until it has been checked. A
// broken one is a miss.
func (s *Space) unpack(packed []byte) (*entry, bool) {
	if packed == nil {
		return nil, false
	}
	raw, err := s.cache.compressor.unpack(packed)
	if err != nil {
		s.metrics.farBroken.Inc()
		return nil, false
	}
	e, err := parse(raw)
	if err != nil || e.check(time.Now()) != nil {
		s.metrics.farBroken.Inc()
		return nil, false
	}
	return &e, true
}

// writeFar queues an entry for Redis: callers are answered first. One that replaces
// another is announced.
func (s *Space) writeFar(key string, e *entry, replaces bool) {
	if s.usesFar() && !s.cache.writeBehind.add(len(e.raw), func() { s.writeNow(key, e, replaces) }) {
		s.cache.metrics.unwritten.Inc()
	}
}

// writeNow compresses an entry and hands it to the far tier, unless it was purged
// since. A replaceable one does not overwrite another.
func (s *Space) writeNow(key string, e *entry, replaces bool) {
	now := time.Now()
	if s.purgedSince(key, &e.meta, now) || len(e.raw) > maxFarEntry {
		return
	}
	packed, keep := s.cache.compressor.pack(e.raw), s.policy.Keep(&e.meta)-now.Sub(e.meta.Created)
	switch {
	case e.meta.replaceable():
		s.cache.far.Add(key, packed, keep)
	case replaces:
		s.cache.far.Replace(key, packed, keep, e.meta.Created)
	default:
		s.cache.far.Set(key, packed, keep)
	}
}

// Bounds of what waits to be compressed for Redis.
const (
	maxWriteJobs  = 1024
	maxWriteBytes = 32 << 20
)

// writeBehind runs, one after another, the jobs for Redis once the callers have
// been answered: entries are compressed here, and jobs of one key keep their
// order. While nothing waits it has no goroutine. The zero value is ready.
type writeBehind struct {
	mu      sync.Mutex
	jobs    []writeJob
	bytes   int
	working chan struct{} // closed when all jobs are done; nil while there are none
}

type writeJob struct {
	do    func()
	bytes int
}

// add never blocks. It refuses an entry when too much waits; jobs of no bytes
// (deletions, releases of leases) are few, and must not be lost.
func (b *writeBehind) add(bytes int, do func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > 0 && (b.bytes+bytes > maxWriteBytes || len(b.jobs) >= maxWriteJobs) {
		return false
	}
	b.jobs = append(b.jobs, writeJob{do, bytes})
	b.bytes += bytes
	if b.working == nil {
		b.working = make(chan struct{})
		go b.work()
	}
	return true
}

func (b *writeBehind) work() {
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

func (b *writeBehind) next() (writeJob, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.jobs) == 0 {
		close(b.working)
		b.jobs, b.working = nil, nil
		return writeJob{}, false
	}
	j := b.jobs[0]
	b.jobs[0] = writeJob{} // or the queue would keep its entry in memory
	b.jobs = b.jobs[1:]
	return j, true
}

// wait returns when all jobs are done.
func (b *writeBehind) wait() {
	b.mu.Lock()
	working := b.working
	b.mu.Unlock()
	if working != nil {
		<-working
	}
}
