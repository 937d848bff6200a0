package cache

import (
	"context"
	"errors"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// Remote is the far tier as this package uses it. None of its methods returns an
// error: what cannot be read is a miss, what cannot be written is dropped.
type Remote interface {
	// Look reads, in one round trip within its own small time budget, what there is about
	// a key. Where that is neither value nor record it asks for the lease as well, for a
	// time; 0: it does not. No Release means that it was not granted: ask for it.
	Look(ctx context.Context, key string, lease time.Duration) entry.Found
	// Version returns a text that is another one as soon as one of these keys has another value. ok is false if it cannot be read within the
	// budget.
	Version(ctx context.Context, keys ...string) (version string, ok bool)
	// Set writes a value created then, unless there is a newer one, or this one is
	// replaceable and there is one that is not. It never blocks. The size in bytes bounds
	// what waits. make is called when it is written, and returns the value and how long it
	// is kept; 0: it is not written.
	Set(key string, created time.Time, replaceable bool, size int, make func() ([]byte, time.Duration))
	// Fail stores the record of a failed fill for the other instances. It never
	// blocks.
	Fail(key string, record []byte, ttl time.Duration)
	// Delete removes a value created then or before. It never blocks.
	Delete(key string, created time.Time)
	// Lease asks for the right to fill a key; release is never nil.
	Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func())
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
	if packed := entry.Worthwhile(c.enc.EncodeAll(raw, nil), raw); packed != nil {
		return packed
	}
	return raw
}

var errTooLarge = errors.New("entry that is too large")

// unpack may return packed itself.
func (c *compressor) unpack(packed []byte) ([]byte, error) {
	switch {
	case len(packed) == 0 || packed[0] != entry.LayoutVersion:
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
	found := f.look(ctx)
	f.noteLook(found.Answered)
	f.farFailure, f.farLeased = found.Failure, found.Leased
	f.farLacks = found.Answered && found.Value == nil && !found.Broken
	if found.Value == nil {
		f.countMissing(&found)
		return nil
	}
	if !f.confirms {
		f.farHits.Add(1)
	}
	e, ok := f.unpack(&found)
	if !ok {
		return nil
	}
	f.farCreated = e.Meta.Created
	got, state := f.promote(e)
	switch {
	case state == policy.Gone:
		f.count(f.metrics.farMiss)
	case got != nil && (state == policy.Fresh || !f.background && state != policy.Stale):
		f.count(f.metrics.farHit)
		return got
	default:
		f.count(f.metrics.farStale)
	}
	return nil
}

// count counts a look into Redis, unless it confirms a copy: nobody waits for that.
func (f *fill) count(result prometheus.Counter) {
	if !f.confirms {
		result.Inc()
	}
}

// countMissing counts a look that has found no entry.
func (f *fill) countMissing(found *entry.Found) {
	switch {
	case found.Broken:
		f.metrics.farBroken.Inc()
	case f.confirms:
		return
	default:
		f.metrics.farMiss.Inc()
	}
	f.farHits.Store(0)
}

// seldomMissed is after how many looks of an endpoint that found something the next ones ask
// for no lease: a lease that has a round trip of its own costs as much as to ask so often.
const seldomMissed = 16

// look is the first look into Redis. Where nothing lies in the near tier, a load follows
// unless something lies there, so the lease is asked for at once.
func (f *fill) look(ctx context.Context) entry.Found {
	lease := f.policy.FillTimeout
	if f.copy != nil || f.farHits.Load() >= seldomMissed {
		lease = 0
	}
	found := f.cache.far.Look(ctx, f.key, lease)
	f.release = found.Release
	return found
}

// slowLoad is how long a load takes after which another instance may have stopped waiting
// for this one, and have answered with something newer.
const slowLoad = time.Second

// overtaken returns the newer entry that Redis holds after a slow load; nil: none.
func (f *fill) overtaken(ctx context.Context, e *entry.Entry, took time.Duration) *flightResult {
	if took < slowLoad || !f.usesFar() {
		return nil
	}
	found := f.cache.far.Look(ctx, f.key, 0)
	newer, ok := f.unpack(&found)
	if !ok || !policy.Prefers(&newer.Meta, &e.Meta, time.Now()) || !newer.Meta.Created.After(e.Meta.Created) {
		return nil
	}
	got, _ := f.promote(newer)
	if got != nil {
		f.cache.failures.clear(f.key)
	}
	return got
}

// usesFar reports whether the space's entries are also kept in Redis.
func (s *Space) usesFar() bool { return s.cache.far != nil && !s.policy.Local }

// promote copies an entry from Redis to the near tier, and returns its state. The result is nil where this instance's own copy is
// better, and for an entry that is gone, which is deleted, or it would keep negative answers out.
func (f *fill) promote(e *entry.Entry) (*flightResult, policy.State) {
	now := time.Now()
	state := f.stateOf(e, now)
	if !policy.Usable(state) {
		f.cache.far.Delete(f.key, e.Meta.Created)
		return nil, policy.Gone
	}
	got := &flightResult{entry: e, tier: Far}
	if f.usableCopy(now) == nil || policy.Prefers(&e.Meta, &f.copy.entry.Meta, now) || winsTie(e, f.copy.entry) {
		f.cache.near.Put(f.policy.Class, f.key, e)
		f.removeIfPurged(f.key, e)
		f.copy = got
		return got, state
	}
	return nil, state
}

// winsTie reports whether the entry is another one than an instance's own of the same time.
// Redis has the one that was written first; the fleet serves that.
func winsTie(e, own *entry.Entry) bool {
	return e.Meta.Created.UnixMilli() == own.Meta.Created.UnixMilli() && e.Digest != own.Digest && e.Meta.Replaceable() == own.Meta.Replaceable()
}

// unpack reads an entry from Redis, which is not trusted until it has been checked. A
// broken one is a miss. One that was dated by another clock is dated anew, as of when it was
// created by this machine's: or instances would not agree which of two is the newer one.
func (s *Space) unpack(found *entry.Found) (*entry.Entry, bool) {
	if found.Value == nil {
		return nil, false
	}
	raw, err := s.cache.compressor.unpack(found.Value)
	if err != nil {
		s.metrics.farBroken.Inc()
		return nil, false
	}
	e, err := entry.Parse(raw)
	if off := found.Created.Sub(e.Meta.Created); err == nil && off != 0 {
		e.Shift(off)
	}
	if err != nil || e.Check(time.Now()) != nil {
		s.metrics.farBroken.Inc()
		return nil, false
	}
	return &e, true
}

// writeFar hands an entry over to the far tier, which writes it once the caller is
// answered.
func (s *Space) writeFar(key string, e *entry.Entry) {
	if !s.usesFar() || len(e.Raw) > maxFarEntry {
		return
	}
	s.cache.far.Set(key, e.Meta.Created, e.Meta.Replaceable(), len(e.Raw), func() ([]byte, time.Duration) { return s.pack(key, e) })
}

// pack is what Redis keeps of an entry, and for how long; 0 when it was purged since.
func (s *Space) pack(key string, e *entry.Entry) ([]byte, time.Duration) {
	now := time.Now()
	if s.purgedSince(key, &e.Meta, now) {
		return nil, 0
	}
	return s.cache.compressor.pack(e.Raw), s.policy.Keep(&e.Meta) - now.Sub(e.Meta.Created)
}
