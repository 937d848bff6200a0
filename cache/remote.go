package cache

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/klauspost/compress/zstd"
)

// How long a fill waits for another instance that holds the lease, and how
// often it looks.
const (
	leaseWait = 2 * time.Second
	leasePoll = 50 * time.Millisecond
	// farDecoded bounds what an entry from Redis may unpack to.
	farDecoded = 64 << 20
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
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(farDecoded))
	return &packer{enc, dec}, err
}

// far looks into Redis and promotes what it finds there. A caller takes what is
// fresh or in grace; a fill in the background, which is there to renew, takes
// only what is not yet due for it.
func (f *fill) far(ctx context.Context) *landing {
	if !f.shared() {
		return nil
	}
	packed, _, _ := f.cache.far.Look(ctx, f.key)
	if packed == nil {
		f.seen.farMiss.Inc()
		return nil
	}
	e, ok := f.unpack(packed)
	if !ok {
		return nil
	}
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
	raw, err := s.cache.packer.dec.DecodeAll(packed, nil)
	if err != nil {
		s.seen.farBroken.Inc()
		return nil, false
	}
	e, err := parse(raw)
	if err != nil || e.split() || e.verify() != nil {
		s.seen.farBroken.Inc()
		return nil, false
	}
	return &e, true
}

// verify walks every record once, so that bytes from Redis are trusted no
// further than they were checked.
func (e *entry) verify() error {
	n := 0
	for i := range e.forms {
		bodies, has := e.form(i)
		if bodies > len(e.raw) {
			return errLayout
		}
		for range bodies * perBody(has) {
			rec, err := e.record(n)
			if err != nil {
				return err
			}
			if _, err := parseRecord(rec, Identity, has); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

// toFar writes behind the answer. What is weak takes nobody's place there.
func (s *Space) toFar(key string, e *entry) {
	if !s.shared() {
		return
	}
	set := s.cache.far.Set
	if e.meta.weak() {
		set = s.cache.far.Add
	}
	keep := s.policy.Keep(&e.meta) - time.Since(e.meta.Born)
	set(key, s.cache.packer.enc.EncodeAll(e.raw, nil), keep)
}

// lease asks for the fleet's right to fill the key.
func (f *fill) lease(ctx context.Context) (bool, func()) {
	if !f.shared() {
		return true, func() {}
	}
	return f.cache.far.Lease(ctx, f.key, f.policy.FillTimeout)
}

// wait looks now and then whether the instance with the lease has landed. When
// it has not in time, this one fills as well: the lease saves calls, it does
// not guard anything.
func (f *fill) wait(ctx context.Context) *landing {
	ctx, cancel := context.WithTimeout(ctx, min(leaseWait, f.policy.FillTimeout/2))
	defer cancel()
	for {
		pause := time.Duration((0.5 + rand.Float64()) * float64(leasePoll))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		packed, _, _ := f.cache.far.Look(ctx, f.key)
		if packed == nil {
			continue
		}
		e, ok := f.unpack(packed)
		if !ok {
			continue
		}
		if got, state := f.promote(e); got != nil && state <= Eager {
			f.seen.farHit.Inc()
			return got
		}
	}
}
