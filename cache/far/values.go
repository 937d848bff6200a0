package far

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unsafe"

	"github.com/redis/go-redis/v9"

	"sundry/cache/entry"
)

// Look reads within the budget what there is about a key. Where that is nothing it takes the
// lease in the same round trip, for a time as in Lease; 0: it does not. No Release means that
// it did not ask for it there, or was denied.
func (t *Tier) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	l := &lookup{key: key, start: time.Now()}
	// In a Cluster MGET is refused while a slot moves, and so would a script be.
	if lease != 0 && !t.cluster && !t.writes.blocked() && !t.leaseRefusals.pausing(l.start) {
		l.token, l.ttl = rand.Text(), leaseBound(lease)
	}
	found := t.find(ctx, l)
	if l.token != "" && (l.taken || l.err != nil && mayBeTaken(l.err)) {
		found.Release = t.hold(key, l.token, l.ttl)
	}
	return found
}

// find makes a look, alone or with others.
func (t *Tier) find(ctx context.Context, l *lookup) entry.Found {
	all := []*lookup{l}
	if !t.cluster {
		if all = t.looks.enter(l); all == nil {
			all = t.looks.wait(l)
		}
	}
	if all != nil {
		t.send(ctx, all)
	}
	found := l.found()
	t.metrics.read(&found, l.err, time.Since(l.start))
	if found.Value != nil {
		_ = t.learnClock() // or it is dated by this machine's clock
		found.Created = t.clock.local(found.Created)
		if !found.Purged.IsZero() {
			found.Purged = t.clock.local(found.Purged)
		}
	}
	return found
}

// Version returns a text that is another one as soon as one of these keys has another value, or another mark. ok is false if Redis does not
// answer within the budget.
func (t *Tier) Version(ctx context.Context, keys ...string) (version string, ok bool) {
	heads := make([]*redis.StringCmd, len(keys))
	err := t.reads.call(func() error {
		call, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
		defer cancel()
		p := t.client.Pipeline()
		for i, key := range keys {
			heads[i] = p.GetRange(call, t.name("", key), 0, longestHead-1)
		}
		_, err := p.Exec(call)
		return markCanceled(ctx, ignoreMissing(err))
	})
	if err != nil {
		return "", false
	}
	for _, head := range heads {
		version += head.Val() + "\n"
	}
	return version, true
}

// errNotSent: the round trip ended in a panic.
var errNotSent = errors.New("the round trip was not made")

// send makes one round trip for these looks, the oldest of which is the first. One
// that several share does not end with any of their callers.
func (t *Tier) send(ctx context.Context, all []*lookup) {
	err := errNotSent
	defer func() {
		if !t.cluster {
			t.looks.landed(sizeOf(all) > largeReply)
		}
		share(all, err)
	}()
	if len(all) > 1 {
		ctx = context.WithoutCancel(ctx)
	}
	err = t.reads.call(func() error { return t.look(ctx, all) })
	if err != nil && !rejected(err) {
		t.log.Debug("redis read failed", "error", err)
	}
}

// look is one round trip. Outside a Cluster that is one command, which costs both
// sides less than three for each look. In a Cluster, MGET is refused while the slot of
// its keys moves to another node, and the keys of several looks are in several slots.
func (t *Tier) look(caller context.Context, all []*lookup) error {
	ctx, cancel := context.WithDeadline(caller, all[0].start.Add(t.cfg.Timeout))
	defer cancel()
	if t.cluster {
		return noteTooLarge(all, markCanceled(caller, t.lookByNode(ctx, all[0])))
	}
	args := make([]any, 1, 1+3*len(all))
	args[0] = "mget"
	for _, l := range all {
		args = append(args, t.name("", l.key), t.name(failedPrefix, l.key), t.name(leasePrefix, l.key))
	}
	reply := redis.NewStringSliceCmd(ctx, args...)
	if err := t.readAndLease(ctx, reply, args[1:], all); err != nil {
		return noteTooLarge(all, markCanceled(caller, err))
	}
	found := reply.Val()
	if len(found) != 3*len(all) {
		return fmt.Errorf("reply of %d values: expected %d", len(found), 3*len(all))
	}
	for i, l := range all {
		l.value, l.failure = bytesOf(found[3*i]), bytesOf(found[3*i+1])
		l.leased = found[3*i+2] != "" || l.preempted && l.value == nil && l.failure == nil
	}
	return nil
}

// noteTooLarge marks the looks of a reply that was too large to be read. Redis has replied, so that this is no error.
func noteTooLarge(all []*lookup, err error) error {
	if !errors.Is(err, errTooLarge) {
		return err
	}
	for _, l := range all {
		l.tooLarge = true
	}
	return nil
}

// readAndLease reads the keys, three for each look, and behind that takes the leases that
// looks ask for. Whatever becomes of those, what was read counts.
func (t *Tier) readAndLease(ctx context.Context, reply *redis.StringSliceCmd, keys []any, all []*lookup) error {
	var asking []*lookup
	args := []any{"evalsha", leaseScript.Hash(), 0}
	for i, l := range all {
		if l.token != "" {
			asking, args = append(asking, l), append(args, keys[3*i:3*i+3]...)
		}
	}
	if len(asking) == 0 {
		return t.client.Process(ctx, reply)
	}
	args[2] = 3 * len(asking)
	for _, l := range asking {
		args = append(args, l.token, min(l.ttl, leaseLife).Milliseconds())
	}
	if !t.leaseScriptKnown.Load() {
		args[0], args[1] = "eval", leaseSource
	}
	leases := redis.NewIntSliceCmd(ctx, args...)
	p := t.client.Pipeline()
	_, _ = p.Process(ctx, reply), p.Process(ctx, leases) // they are queued
	_, err := p.Exec(ctx)
	t.leasesTaken(asking, leases)
	if err != nil && reply.Err() == nil && leases.Err() == nil {
		return err // nothing was sent
	}
	return reply.Err()
}

// leasesTaken tells looks what became of the leases that they asked for. Where users of Redis
// may run no scripts, it is asked for none for a while.
func (t *Tier) leasesTaken(asking []*lookup, reply *redis.IntSliceCmd) {
	err, unknown := reply.Err(), redis.HasErrorPrefix(reply.Err(), "NOSCRIPT")
	t.leaseScriptKnown.Store(err == nil || t.leaseScriptKnown.Load() && !unknown)
	if err == nil || isReply(err) && !unknown {
		t.leaseRefusals.note(err != nil, time.Now())
	}
	for i, taken := range reply.Val() {
		if i < len(asking) {
			asking[i].taken, asking[i].preempted = taken == leaseTaken, taken == somethingThere
		}
	}
}

// lookByNode sends three commands together. Each reply is used by itself; that of
// the value decides whether the call failed.
func (t *Tier) lookByNode(ctx context.Context, f *lookup) error {
	key := f.key
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

const (
	// maxKey is the length in bytes of the longest key of the cache that Redis has as it is. Clients can make URLs of 60 kB
	// that are purged, and Redis would keep each of them for minutes.
	maxKey = 200
	// shownKey is how much of a longer one is there, for people who look into Redis.
	shownKey = 160
)

// shortKey returns the key, or its beginning and its digest: of a long one, and of a URI with a query, which may hold credentials of a
// client. No key that Redis has as it is has a question mark.
func shortKey(key string) string {
	shown, _, asked := strings.Cut(key, "?")
	if !asked && len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return shown[:min(len(shown), shownKey)] + "?" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// name is the key in Redis. On a Cluster the cache's key is the hash tag, so that
// one node holds all that is stored about it, for one round trip.
func (t *Tier) name(prefix, key string) string {
	key = shortKey(key)
	if t.cluster {
		return keyPrefix + prefix + "{" + key + "}"
	}
	return keyPrefix + prefix + key
}

// Set writes an entry created at that time, some time after it returned, unless Redis
// has a newer one by then, or a lasting one and this one is replaceable. The size in
// bytes bounds what waits. make is called when it is written, and returns the bytes, which
// belong to the tier then, and how long Redis keeps them; under a millisecond: it is not
// written.
func (t *Tier) Set(key string, created time.Time, replaceable bool, size int, make func() ([]byte, time.Duration)) {
	t.push("", &job{kind: writing, cacheKey: key, created: created, replaceable: replaceable, size: size, make: make})
}

// Share is Set, with purged: nil, or the value is an index of others, under keys that it tells of. When Redis has replied, purged is called
// with the time of the last mark of the key, of which Redis knows by the mark itself or by what has taken its place. What is older is
// invalid, also under those keys. If no mark is known, that is all from longer before than a mark of nothing lives. purged must not block.
func (t *Tier) Share(key string, created time.Time, replaceable bool, size int, make func() ([]byte, time.Duration), purged func(at time.Time)) {
	t.push("", &job{
		kind: writing, cacheKey: key, created: created, replaceable: replaceable,
		size: size, make: make, purged: purged,
	})
}

// Fail stores the record of a failed fill for ttl.
func (t *Tier) Fail(key string, record []byte, ttl time.Duration) {
	if ttl >= time.Millisecond {
		t.push(failedPrefix, &job{kind: failing, cacheKey: key, size: len(record), value: sealRecord(key, record), ttl: ttl})
	}
}

// Delete removes an entry created at that time or before, some time after it returned:
// after earlier calls of Set and before later ones. It is retried until it succeeds.
func (t *Tier) Delete(key string, created time.Time) {
	t.push("", &job{kind: deleting, cacheKey: key, created: created})
}

// Mark is Set for a value of one byte that takes the place of all that was created at that time or before, and is retried until it
// succeeds. If there is a newer value, that tells of the mark from then on. All instances are notified: see Listen. Redis stores it for ttl
// if lasting is set or the key had a value, and otherwise only as long as a fill may take.
func (t *Tier) Mark(key string, created time.Time, value []byte, ttl time.Duration, lasting bool) {
	t.push("", &job{kind: marking, lasting: lasting, cacheKey: key, created: created, size: 2 * len(key), make: func() ([]byte, time.Duration) { return value, ttl }})
}

// push queues a write.
func (t *Tier) push(prefix string, j *job) {
	j.key, j.at = t.name(prefix, j.cacheKey), time.Now()
	if n := t.queue.push(j); n > 0 {
		t.metrics.dropped.Add(float64(n))
	}
}
