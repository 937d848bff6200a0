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

// fromFar looks into Redis and promotes what it finds. A caller takes what is
// fresh or in grace; a fill in the background, which is there to renew, takes
// only what is not yet due for it.
func (s *Space) fromFar(ctx context.Context, key string, behind bool) (*entry, bool) {
	e, ok := s.readFar(ctx, key)
	if !ok {
		return nil, false
	}
	state := s.state(e)
	if !usable(state) {
		s.seen.farMiss.Inc()
		return nil, false
	}
	if have, ok := s.cache.near.head(s.policy.Class, key); !ok || e.meta.Born.After(have.meta.Born) {
		s.cache.near.put(s.policy.Class, key, e)
	}
	if state == Fresh || !behind && state != Stale {
		s.seen.farHit.Inc()
		return e, true
	}
	s.seen.farStale.Inc()
	return nil, false
}

// readFar gets and unpacks; whatever is wrong with it is a miss.
func (s *Space) readFar(ctx context.Context, key string) (*entry, bool) {
	if s.cache.far == nil || s.policy.Local {
		return nil, false
	}
	packed, _, _ := s.cache.far.Look(ctx, key)
	if packed == nil {
		s.seen.farMiss.Inc()
		return nil, false
	}
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

// toFar writes behind the answer.
func (c *Cache) toFar(p *Policy, key string, e *entry) {
	if c.far == nil || p.Local {
		return
	}
	c.far.Set(key, c.packer.enc.EncodeAll(e.raw, nil), p.Keep(&e.meta))
}

// lease asks for the fleet's right to fill the key.
func (s *Space) lease(ctx context.Context, key string) (bool, func()) {
	if s.cache.far == nil || s.policy.Local {
		return true, func() {}
	}
	return s.cache.far.Lease(ctx, key, s.policy.FillTimeout)
}

// waitFar looks now and then whether the instance with the lease has landed.
// When it has not in time, this one fills as well: the lease saves calls, it
// does not guard anything.
func (s *Space) waitFar(ctx context.Context, key string) (*entry, bool) {
	ctx, cancel := context.WithTimeout(ctx, min(leaseWait, s.policy.FillTimeout/2))
	defer cancel()
	for {
		pause := time.Duration((0.5 + rand.Float64()) * float64(leasePoll))
		select {
		case <-ctx.Done():
			return nil, false
		case <-time.After(pause):
		}
		if e, ok := s.readFar(ctx, key); ok && s.state(e) <= Eager {
			s.cache.near.put(s.policy.Class, key, e)
			s.seen.farHit.Inc()
			return e, true
		}
	}
}
