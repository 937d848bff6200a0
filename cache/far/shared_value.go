package far

import (
	"context"
	"errors"
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
	return &SharedValue{tier: t, key: t.cfg.Prefix + name, pingAfter: watchPingAfter}
}

// sharedValueTime bounds one call: connecting, writing and reading, all in all. An
// operator waits for it, no request does. Shared values have connections of their
// own, since the tier's are closed after a read's budget.
const sharedValueTime = 2 * time.Second

// Load reads the value; nil when there is none. Where Redis does not reply, the
// subscriptions of the tier are renewed, because their connections may be lost as well.
func (v *SharedValue) Load(ctx context.Context) ([]byte, error) {
	call, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	b, err := v.tier.sharedValues.Get(call, v.key).Bytes()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case err != nil && !isReply(err) && ctx.Err() == nil:
		v.tier.subscriptions.renew()
	}
	return b, err
}

// swapScript sets the value if it is still the old one (none is ""), and notifies
// all watchers.
const swapScript = `
if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
redis.call("publish", KEYS[1], "changed")
return 1`

// Swap replaces the old value, unless another one was written since: then it
// returns false. All watchers are notified.
func (v *SharedValue) Swap(ctx context.Context, old, value []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	n, err := v.tier.sharedValues.Eval(ctx, swapScript, []string{v.key}, old, value).Int()
	return n == 1, err
}

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
