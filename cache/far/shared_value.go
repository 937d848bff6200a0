package far

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// SharedValue is one value that the instances of a fleet share: written by
// compare-and-swap, with a notice to all watchers of each change. The settings that
// operators change at run time are one. Unlike the tier's methods, these return
// errors, because an operator waits for them.
type SharedValue struct {
	tier *Tier
	key  string
	// pingAfter is how long a watch receives nothing before it pings, to find out
	// whether its connection is still alive.
	pingAfter time.Duration
}

// SharedValue opens the value of that name. It does not call Redis.
func (t *Tier) SharedValue(name string) *SharedValue {
	return &SharedValue{tier: t, key: keyPrefix + name, pingAfter: watchPingAfter}
}

// sharedValueTime bounds one call: connecting, writing and reading, all in all. An
// operator waits for it, no request does. Shared values have connections of their
// own, since the tier's are closed after a read's budget.
const sharedValueTime = 2 * time.Second

// ClockOffset is by how much the clock of Redis is ahead of this machine's. It is what the tier
// dates entries by: so a purge and an entry are in the same order on all instances. ErrNoClock means that Redis refuses to tell its time.
func (v *SharedValue) ClockOffset(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	if err := v.tier.clock.ask(func() (time.Time, error) { return v.tier.sharedValues.Time(ctx).Result() }); err != nil {
		if isReply(err) && !notYet(err) {
			err = fmt.Errorf("%w: %w", ErrNoClock, err)
		}
		return 0, err
	}
	return v.tier.clock.off(), nil
}

// ErrNoClock means that Redis refuses to tell its time.
var ErrNoClock = errors.New("redis does not tell its time")

// Persists reports whether Redis writes what is stored to a log on its disk (AOF), so that a restart loses a second of it at most.
func (t *Tier) Persists(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	info, err := t.sharedValues.Info(ctx, "persistence").Result()
	return err == nil && field(info, "aof_enabled") == 1
}

// ErrNotAValue means that what Redis has there is of another type, such as a list.
var ErrNotAValue = errors.New("the key holds something else than a value")

// Load reads the value; nil when there is none. Where Redis does not reply, the
// subscriptions of the tier are renewed, because their connections may be lost as well.
func (v *SharedValue) Load(ctx context.Context) ([]byte, error) {
	call, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	b, err := v.tier.sharedValues.Get(call, v.key).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case redis.HasErrorPrefix(err, "WRONGTYPE"):
		return nil, fmt.Errorf("%s: %w", v.key, ErrNotAValue)
	case err != nil && !isReply(err) && ctx.Err() == nil:
		v.tier.subscriptions.renew()
	}
	return b, err
}

// compareAndSwap sets the value if it is still the old one (none is ""), and notifies
// all watchers.
const compareAndSwap = `
if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
redis.call("publish", KEYS[1], "changed")
return 1`

// CompareAndSwap replaces the old value, unless another one was written since: then it
// returns false. All watchers are notified.
func (v *SharedValue) CompareAndSwap(ctx context.Context, old, value []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	n, err := v.tier.sharedValues.Eval(ctx, compareAndSwap, []string{v.key}, old, value).Int()
	return n == 1, err
}

// repairScript sets the value in the place of a damaged one, or of what is not a value (""),
// which is kept under another name, and notifies all watchers. What may be refused comes first.
const repairScript = `
local kind = redis.call("type", KEYS[1]).ok
if kind == "none" or kind ~= "string" and ARGV[1] ~= "" then return 0 end
if kind == "string" and redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("set", KEYS[3], ARGV[2])
redis.call("rename", KEYS[1], KEYS[2])
redis.call("rename", KEYS[3], KEYS[1])
redis.call("publish", KEYS[1], "changed")
return 1`

// Repair is CompareAndSwap for a value that is damaged, or with nil for what is ErrNotAValue: that is
// kept under the key of Damaged, in the place of what was kept there before.
func (v *SharedValue) Repair(ctx context.Context, damaged, value []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	n, err := v.tier.sharedValues.Eval(ctx, repairScript, []string{v.key, v.Damaged(), v.sibling("next")}, damaged, value).Int()
	return n == 1, err
}

// Damaged is the key under which Repair keeps what was damaged.
func (v *SharedValue) Damaged() string { return v.sibling("damaged") }

// sibling is a key in the same slot of a Cluster, because the key of the value is its hash tag. It has the prefix of all keys, to which a
// user of Redis may be restricted.
func (v *SharedValue) sibling(name string) string { return keyPrefix + name + ":{" + v.key + "}" }

// Watch calls changed once it is subscribed, after every change, and when it is
// subscribed again after an outage, during which changes may have been missed; and lost
// when such an outage begins. None of them may block. It returns when ctx ends.
func (v *SharedValue) Watch(ctx context.Context, changed, lost func()) {
	s := subscription{
		tier: v.tier, channel: v.key, pingAfter: v.pingAfter,
		subscribed: changed, ended: lost, received: func(string) { changed() },
	}
	s.run(ctx)
}
