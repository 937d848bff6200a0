package far

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/jitter"
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

// watchPingAfter: a connection that was lost without being closed, as when a node
// or a firewall in between goes down, is noticed after this and sharedValueTime.
const watchPingAfter = 10 * time.Second

// Load reads the value; nil when there is none.
func (v *SharedValue) Load(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	b, err := v.tier.sharedValues.Get(ctx, v.key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
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
// subscribed again after an outage, during which changes may have been missed. It
// returns when ctx ends.
func (v *SharedValue) Watch(ctx context.Context, changed func()) {
	for ctx.Err() == nil {
		v.listen(ctx, changed)
		pause(ctx, jitter.Around(v.tier.cfg.OpenFor, spread))
	}
}

// listen is one subscription, until it ends.
func (v *SharedValue) listen(ctx context.Context, changed func()) {
	sub := v.tier.sharedValues.Subscribe(ctx, v.key)
	end := func() { _ = sub.Close() } // the error is of no use
	defer end()
	// ReceiveTimeout does not end with ctx.
	defer context.AfterFunc(ctx, end)()
	for wait := sharedValueTime; ctx.Err() == nil; {
		message, err := sub.ReceiveTimeout(ctx, wait)
		switch {
		case err == nil:
			wait = v.pingAfter
		case resultOf(err) != "timeout" || wait == sharedValueTime:
			return
		default:
			wait = sharedValueTime // for the reply
			if sub.Ping(ctx) != nil {
				return
			}
			continue
		}
		if _, pong := message.(*redis.Pong); !pong {
			changed() // a message, or the confirmation of the subscription
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
