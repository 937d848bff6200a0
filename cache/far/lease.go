package far

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// maxLease bounds a lease: should its release get lost with its holder, others
// wait no longer than this.
const maxLease = time.Minute

// Lease asks for the fleet's right to fill a key for at most ttl, which is
// bounded by a minute. Without Redis it is granted: the right saves calls, it
// protects nothing. release is never nil, does not block, and may be called more
// than once; it takes effect after what was written for the key before it, so
// that whoever sees the lease gone sees what came of the fill.
func (t *Tier) Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func()) {
	if t == nil {
		return true, func() {}
	}
	if ttl < time.Millisecond || ttl > maxLease {
		ttl = maxLease
	}
	token := rand.Text()
	taken := false
	err := t.writes.call(func() error {
		err := t.take(ctx, key, token, ttl)
		if taken = errors.Is(err, redis.Nil); taken {
			return nil
		}
		return err
	})
	if taken || unsent(err) || replied(err) {
		return !taken, func() {}
	}
	// Granted, or perhaps so: a reply that got lost leaves a lease as well.
	return true, sync.OnceFunc(func() {
		t.push(lease, &job{kind: releasing, of: key, token: token, ttl: ttl})
	})
}

// take makes the call; Nil: somebody else has it.
func (t *Tier) take(caller context.Context, key, token string, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
	defer cancel()
	args := redis.SetArgs{Mode: "NX", TTL: ttl}
	err := t.client.SetArgs(ctx, t.name(lease, key), token, args).Err()
	return cut(caller, err)
}
