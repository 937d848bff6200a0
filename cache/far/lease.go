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
	// maxLease bounds a lease, however long its holder lives.
	maxLease = time.Minute
	// leaseLife is how long a lease outlives its holder: others wait no longer
	// for one that died.
	leaseLife = 3 * time.Second
	// leaseBeat is how often its holder renews it.
	leaseBeat = leaseLife / 3
)

// Lease asks for the fleet's right to fill a key for at most ttl, which is
// bounded by a minute. It is renewed until then, or until it is released. Without
// Redis it is granted: the right saves calls, it protects nothing. release is
// never nil, does not block, and may be called more than once; it takes effect
// after what was written for the key before it, so that whoever sees the lease
// gone sees what came of the fill.
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
		err := t.take(ctx, key, token, min(ttl, leaseLife))
		if taken = errors.Is(err, redis.Nil); taken {
			return nil
		}
		return err
	})
	if taken || unsent(err) || replied(err) {
		return !taken, func() {}
	}
	// Granted, or perhaps so: a reply that got lost leaves a lease as well.
	stop := t.renew(key, token, time.Now().Add(ttl))
	return true, sync.OnceFunc(func() {
		stop()
		t.push(lease, &job{kind: releasing, of: key, token: token, ttl: min(ttl, leaseLife)})
	})
}

// renewScript lengthens a lease only if it is still ours.
const renewScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`

// renew keeps the lease alive until an instant, or until it is stopped. A beat
// that fails is made up for by the next.
func (t *Tier) renew(key, token string, until time.Time) (stop func()) {
	ctx, cancel := context.WithDeadline(context.Background(), until)
	var beat *time.Timer
	var mu sync.Mutex
	next := func() {
		mu.Lock()
		defer mu.Unlock()
		if ctx.Err() == nil {
			beat.Reset(leaseBeat)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	beat = time.AfterFunc(leaseBeat, func() {
		life := min(leaseLife, time.Until(until))
		if ctx.Err() != nil || life < time.Millisecond {
			return
		}
		err := t.writes.call(func() error {
			call, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
			defer cancel()
			return cut(ctx, t.client.Eval(call, renewScript, []string{t.name(lease, key)}, token, life.Milliseconds()).Err())
		})
		if err != nil {
			t.log.Debug("lease not renewed", "error", err)
		}
		next()
	})
	return func() { cancel(); mu.Lock(); defer mu.Unlock(); beat.Stop() }
}

// take makes the call; Nil: somebody else has it.
func (t *Tier) take(caller context.Context, key, token string, ttl time.Duration) error {
	ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
	defer cancel()
	args := redis.SetArgs{Mode: "NX", TTL: ttl}
	err := t.client.SetArgs(ctx, t.name(lease, key), token, args).Err()
	return cut(caller, err)
}
