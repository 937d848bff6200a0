package far

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Look reads within the budget the value of a key, the record of a fill that
// failed, and whether its lease is held. What cannot be read is not there.
func (t *Tier) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	if t == nil {
		return nil, nil, false
	}
	start := time.Now()
	var f found
	err := t.reads.call(func() error { return t.look(ctx, key, &f) })
	t.seen.read(f.value, err, time.Since(start))
	return f.value, f.failure, f.leased
}

// found is what one look brought.
type found struct {
	value, failure []byte
	leased         bool
}

// look is one round trip. Each reply counts for itself; that of the value tells
// how Redis is.
func (t *Tier) look(caller context.Context, key string, f *found) error {
	ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
	defer cancel()
	p := t.client.Pipeline()
	value, failure, leased := p.Get(ctx, t.name("", key)), p.Get(ctx, t.name(failed, key)), p.Exists(ctx, t.name(lease, key))
	_, err := p.Exec(ctx)
	if err != nil && value.Err() == nil && failure.Err() == nil && leased.Err() == nil {
		return cut(caller, err) // nothing was asked: the connection was refused
	}
	f.value, f.failure = held(value), held(failure)
	f.leased = leased.Err() == nil && leased.Val() > 0
	return cut(caller, absent(value.Err()))
}

// held are a reply's; nil when there is none, or nothing in it.
func held(reply *redis.StringCmd) []byte {
	b, err := reply.Bytes()
	if err != nil || len(b) == 0 {
		return nil
	}
	return b
}

// absent turns what only says that there is no such value into none.
func absent(err error) error {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil
	}
	return err
}

// cut marks what failed because the caller's time was over: no fault of Redis.
func cut(caller context.Context, err error) error {
	if err != nil && caller.Err() != nil && !replied(err) {
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return err
}

// What else is known of a key, before it in its name.
const (
	failed = "failed:"
	lease  = "lease:"
)

// name is Redis' for what is known of a key. On a Cluster the key is its hash
// tag: one node has all of it, and is asked once.
func (t *Tier) name(what, key string) string {
	if t.cluster {
		return t.cfg.Prefix + what + "{" + key + "}"
	}
	return t.cfg.Prefix + what + key
}

// Set keeps a value, some time after it returned. A ttl below a millisecond
// keeps nothing.
func (t *Tier) Set(key string, value []byte, ttl time.Duration) {
	t.push("", &job{kind: setting, of: key, value: value, ttl: ttl})
}

// Add is Set where there is no value yet.
func (t *Tier) Add(key string, value []byte, ttl time.Duration) {
	t.push("", &job{kind: adding, of: key, value: value, ttl: ttl})
}

// Fail keeps the record of a fill that failed, for ttl.
func (t *Tier) Fail(key string, record []byte, ttl time.Duration) {
	t.push(failed, &job{kind: setting, of: key, value: record, ttl: ttl})
}

// Delete removes a value, some time after it returned: after what was Set
// before it, before what is Set after it. It is tried until Redis took it.
func (t *Tier) Delete(key string) { t.push("", &job{kind: deleting, of: key}) }

// push queues a write of what is known of a key.
func (t *Tier) push(what string, j *job) {
	if t == nil || !j.order() && j.ttl < time.Millisecond {
		return
	}
	j.key, j.at = t.name(what, j.of), time.Now()
	if !t.queue.push(j) {
		t.seen.dropped.Inc()
	}
}
