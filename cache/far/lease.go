package far

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/metrics/panics"
)

// A lease is a key in Redis whose value is a token that its owner alone knows, and
// which expires soon unless its owner renews it.
const (
	// maxLease bounds a lease, even if its owner still works.
	maxLease = time.Minute
	// leaseLife is how long a lease outlives an instance that died: the others wait no
	// longer. They are to have their answer two seconds after it.
	leaseLife = time.Second
	// leaseRenewal is how often the owner renews it: one renewal may be lost.
	leaseRenewal = leaseLife / 3
)

// Lease asks for the fleet's right to fill a key for at most ttl, which is
// bounded by a minute. It is renewed until then, or until it is released. Without
// Redis it is granted: a lease saves upstream calls, correctness does not depend
// on it. release is never nil, does not block, and may be called more than once;
// it takes effect after the key's earlier writes, so that an instance which sees
// the lease released also sees the outcome of the fill.
func (t *Tier) Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func()) {
	ttl = leaseBound(ttl)
	token := rand.Text()
	heldElsewhere := false
	err := t.writes.call(func() error {
		err := t.take(ctx, key, token, min(ttl, leaseLife))
		if errors.Is(err, redis.Nil) && t.removeStranger(ctx, key) {
			err = t.take(ctx, key, token, min(ttl, leaseLife))
		}
		if heldElsewhere = errors.Is(err, redis.Nil); heldElsewhere {
			return nil
		}
		return err
	})
	if heldElsewhere || !mayBeTaken(err) {
		return !heldElsewhere, func() {}
	}
	return true, t.hold(key, token, ttl)
}

func leaseBound(ttl time.Duration) time.Duration {
	if ttl < time.Millisecond || ttl > maxLease {
		return maxLease
	}
	return ttl
}

// mayBeTaken reports whether there may be a lease after a call for one: if only the reply was
// lost there is.
func mayBeTaken(err error) bool { return !rejected(err) && !isReply(err) }

// hold renews a lease that is ours until it is released.
func (t *Tier) hold(key, token string, ttl time.Duration) (release func()) {
	r := &renewal{tier: t, key: key, token: token, until: time.Now().Add(ttl)}
	r.mu.Lock()
	r.timer = time.AfterFunc(leaseRenewal, t.cfg.Panics.Func(panics.Lease, r.renew))
	r.mu.Unlock()
	return func() {
		if r.stop() {
			t.push(leasePrefix, &job{kind: releasing, cacheKey: key, token: token, ttl: min(ttl, leaseLife)})
		}
	}
}

// strangerScript removes a lease that no instance has taken, because it is no text or lasts longer than any lease: it would
// keep everybody waiting. It returns 1 if it has removed one.
const strangerScript = `
local left = redis.call("pttl", KEYS[1])
if left >= 0 and left <= tonumber(ARGV[1]) and redis.call("type", KEYS[1]).ok == "string" then return 0 end
return redis.call("del", KEYS[1])`

// removeStranger reports whether it has removed a lease that no instance has taken.
func (t *Tier) removeStranger(ctx context.Context, key string) bool {
	ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
	defer cancel()
	n, err := t.client.Eval(ctx, strangerScript, []string{t.name(leasePrefix, key)}, leaseLife.Milliseconds()).Int64()
	return err == nil && n > 0
}

// renewScript extends a lease only if it is still ours.
const renewScript = `
if redis.pcall("get", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("pexpire", KEYS[1], ARGV[2])`

// renewal renews a lease until an instant, or until it is stopped. A failed one is made up
// for by the next.
type renewal struct {
	tier       *Tier
	key, token string
	until      time.Time

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

func (r *renewal) renew() {
	life := min(leaseLife, time.Until(r.until))
	if life < time.Millisecond {
		return
	}
	defer r.again()
	err := r.tier.writes.call(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), r.tier.cfg.Timeout)
		defer cancel()
		return r.tier.client.Eval(ctx, renewScript, []string{r.tier.name(leasePrefix, r.key)}, r.token, life.Milliseconds()).Err()
	})
	if err != nil {
		r.tier.log.Debug("lease not renewed", "error", err)
	}
}

func (r *renewal) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.timer.Reset(leaseRenewal)
	}
}

// stop reports whether it was not stopped before.
func (r *renewal) stop() (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer.Stop()
	first, r.stopped = !r.stopped, true
	return first
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
