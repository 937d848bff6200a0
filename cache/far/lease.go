package far

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// maxLease bounds a lease, even if its holder still works.
	maxLease = time.Minute
	// leaseLife is how long a lease outlives an instance that died: the others
	// wait no longer.
	leaseLife = 3 * time.Second
	// leaseRenewal is how often the holder renews it.
	leaseRenewal = leaseLife / 3
)

// Lease asks for the fleet's right to fill a key for at most ttl, which is
// bounded by a minute. It is renewed until then, or until it is released. Without
// Redis it is granted: a lease saves upstream calls, correctness does not depend
// on it. release is never nil, does not block, and may be called more than once;
// it takes effect after the key's earlier writes, so that an instance which sees
// the lease released also sees the outcome of the fill.
func (t *Tier) Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func()) {
	if t == nil {
		return true, func() {}
	}
	if ttl < time.Millisecond || ttl > maxLease {
		ttl = maxLease
	}
	token := rand.Text()
	heldElsewhere := false
	err := t.writes.call(func() error {
		err := t.take(ctx, key, token, min(ttl, leaseLife))
		if heldElsewhere = errors.Is(err, redis.Nil); heldElsewhere {
			return nil
		}
		return err
	})
	if heldElsewhere || rejected(err) || isReply(err) {
		return !heldElsewhere, func() {}
	}
	// Granted, or possibly so: if only the reply was lost there is a lease.
	stop := t.renew(key, token, time.Now().Add(ttl))
	return true, sync.OnceFunc(func() {
		stop()
		t.push(leasePrefix, &job{kind: releasing, cacheKey: key, token: token, ttl: min(ttl, leaseLife)})
	})
}

// renewScript extends a lease only if it is still ours.
const renewScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`

// renew renews the lease until an instant, or until it is stopped. A failed
// renewal is made up for by the next.
func (t *Tier) renew(key, token string, until time.Time) (stop func()) {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	var timer *time.Timer
	var mu sync.Mutex
	next := func() {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			timer.Reset(leaseRenewal)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(leaseRenewal, func() {
		life := min(leaseLife, time.Until(until))
		if ctx.Err() != nil || life < time.Millisecond {
			return
		}
		err := t.writes.call(func() error {
			call, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
			defer cancel()
			return markCanceled(ctx, t.client.Eval(call, renewScript, []string{t.name(leasePrefix, key)}, token, life.Milliseconds()).Err())
		})
		if err != nil {
			t.log.Debug("lease not renewed", "error", err)
		}
		next()
	})
	return func() { cancel(); mu.Lock(); defer mu.Unlock(); timer.Stop() }
}

// take tries to take the lease; the error redis.Nil means that another instance
// holds it.
func (t *Tier) take(caller context.Context, key, token string, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
	defer cancel()
	args := redis.SetArgs{Mode: "NX", TTL: ttl}
	err := t.client.SetArgs(ctx, t.name(leasePrefix, key), token, args).Err()
	return markCanceled(caller, err)
}
