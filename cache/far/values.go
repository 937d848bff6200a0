package far

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"
)

// Look reads within the budget the value of a key, the record of its failed fill,
// and whether its lease is held. What cannot be read counts as missing.
func (t *Tier) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	if t == nil {
		return nil, nil, false
	}
	start := time.Now()
	var f lookup
	err := t.reads.call(func() error { return t.look(ctx, key, &f) })
	t.metrics.read(f.value, err, time.Since(start))
	return f.value, f.failure, f.leased
}

// lookup is the result of one Look.
type lookup struct {
	value, failure []byte
	leased         bool
}

// look is one round trip. Outside a Cluster that is one command, which costs both
// sides less than three. In a Cluster, MGET is refused while the slot of its keys
// moves to another node.
func (t *Tier) look(caller context.Context, key string, f *lookup) error {
	ctx, cancel := context.WithTimeout(caller, t.cfg.Timeout)
	defer cancel()
	if t.cluster {
		return markCanceled(caller, t.lookByNode(ctx, key, f))
	}
	names := [...]string{t.name("", key), t.name(failedPrefix, key), t.name(leasePrefix, key)}
	reply := redis.NewStringSliceCmd(ctx, "mget", &names[0], &names[1], &names[2])
	if err := t.client.Process(ctx, reply); err != nil {
		return markCanceled(caller, err)
	}
	found := reply.Val()
	if len(found) != len(names) {
		return markCanceled(caller, fmt.Errorf("reply of %d values: expected %d", len(found), len(names)))
	}
	f.value, f.failure, f.leased = bytesOf(found[0]), bytesOf(found[1]), found[2] != ""
	return nil
}

// lookByNode sends three commands together. Each reply is used by itself; that of
// the value decides whether the call failed.
func (t *Tier) lookByNode(ctx context.Context, key string, f *lookup) error {
	p := t.client.Pipeline()
	value, failure, leased := p.Get(ctx, t.name("", key)), p.Get(ctx, t.name(failedPrefix, key)), p.Exists(ctx, t.name(leasePrefix, key))
	_, err := p.Exec(ctx)
	if err != nil && value.Err() == nil && failure.Err() == nil && leased.Err() == nil {
		return err // nothing was sent: the connection was refused
	}
	f.value, f.failure = bytesOf(value.Val()), bytesOf(failure.Val())
	f.leased = leased.Err() == nil && leased.Val() > 0
	return ignoreMissing(value.Err())
}

// bytesOf views a reply, which nobody else has, as bytes; nil when there is none, or
// an empty one.
func bytesOf(reply string) []byte {
	if reply == "" {
		return nil
	}
	return unsafe.Slice(unsafe.StringData(reply), len(reply)) //nolint:gosec // see above
}

// ignoreMissing is nil for an error that only says that there is no value.
func ignoreMissing(err error) error {
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
		return nil
	}
	return err
}

// markCanceled marks a call that failed because its caller's context ended, which
// says nothing about Redis.
func markCanceled(caller context.Context, err error) error {
	if err != nil && caller.Err() != nil && !isReply(err) {
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return err
}

// Prefixes of what is stored about a key besides its value.
const (
	failedPrefix = "failed:"
	leasePrefix  = "lease:"
)

// name is the key in Redis. On a Cluster the cache's key is the hash tag, so that
// one node holds all that is stored about it, for one round trip.
func (t *Tier) name(prefix, key string) string {
	if t.cluster {
		return t.cfg.Prefix + prefix + "{" + key + "}"
	}
	return t.cfg.Prefix + prefix + key
}

// Set stores a value, some time after it returned. A ttl below a millisecond
// stores nothing.
func (t *Tier) Set(key string, value []byte, ttl time.Duration) {
	t.push("", &job{kind: setting, cacheKey: key, value: value, ttl: ttl})
}

// Add is Set where there is no value yet.
func (t *Tier) Add(key string, value []byte, ttl time.Duration) {
	t.push("", &job{kind: adding, cacheKey: key, value: value, ttl: ttl})
}

// Fail stores the record of a failed fill for ttl.
func (t *Tier) Fail(key string, record []byte, ttl time.Duration) {
	t.push(failedPrefix, &job{kind: setting, cacheKey: key, value: record, ttl: ttl})
}

// Delete removes a value, some time after it returned: after earlier calls of Set
// and before later ones. It is retried until it succeeds.
func (t *Tier) Delete(key string) { t.push("", &job{kind: deleting, cacheKey: key}) }

// push queues a write.
func (t *Tier) push(prefix string, j *job) {
	if t == nil || !j.deletion() && j.ttl < time.Millisecond {
		return
	}
	j.key, j.at = t.name(prefix, j.cacheKey), time.Now()
	if !t.queue.push(j) {
		t.metrics.dropped.Inc()
	}
}
