package far

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// SharedValue is one value that the instances of a fleet share: written by
// compare-and-swap, with a notice to everybody of each change. The settings that
// operators change at run time are one. Unlike the tier's other methods, its own
// return errors, because an operator waits for them.
type SharedValue struct {
	tier *Tier
	key  string
	// silence is how long a watch goes without a word before it asks whether
	// its connection still stands.
	silence time.Duration
}

// SharedValue opens the value of that name. It does not call Redis.
func (t *Tier) SharedValue(name string) *SharedValue {
	return &SharedValue{tier: t, key: t.cfg.Prefix + name, silence: watchSilence}
}

// documentTime bounds one call: connecting, writing and reading, all in all.
// Somebody waits, but not a request. The tier's own connections are cut after a
// read's budget; documents have others.
const documentTime = 2 * time.Second

// watchSilence: a connection that was lost without a word, as when a node or a
// firewall between goes, is noticed after this and documentTime.
const watchSilence = 10 * time.Second

// Load reads the value; nil when there is none.
func (d *SharedValue) Load(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	b, err := d.tier.documents.Get(ctx, d.key).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return b, err
}

// swapScript sets the value if it is still the old one (none is ""), and tells
// everybody.
const swapScript = `
if (redis.call("get", KEYS[1]) or "") ~= ARGV[1] then return 0 end
redis.call("set", KEYS[1], ARGV[2])
redis.call("publish", KEYS[1], "changed")
return 1`

// Swap puts a value in the place of the old one, unless another came between:
// then it returns false. Everybody who watches is told.
func (d *SharedValue) Swap(ctx context.Context, old, value []byte) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, documentTime)
	defer cancel()
	n, err := d.tier.documents.Eval(ctx, swapScript, []string{d.key}, old, value).Int()
	return n == 1, err
}

// Watch calls changed once it listens, after every change, and whenever it
// listens again after an outage, in which changes may have been missed. It
// returns when ctx ends.
func (d *SharedValue) Watch(ctx context.Context, changed func()) {
	for ctx.Err() == nil {
		d.listen(ctx, changed)
		pause(ctx, spread(d.tier.cfg.OpenFor))
	}
}

// listen is one subscription, until it is lost.
func (d *SharedValue) listen(ctx context.Context, changed func()) {
	sub := d.tier.documents.Subscribe(ctx, d.key)
	end := func() { _ = sub.Close() } // nothing is lost with it
	defer end()
	// Reading from it waits for Redis, whatever becomes of ctx.
	defer context.AfterFunc(ctx, end)()
	for wait := documentTime; ctx.Err() == nil; {
		message, err := sub.ReceiveTimeout(ctx, wait)
		switch {
		case err == nil:
			wait = d.silence
		case failure(err) != "timeout" || wait == documentTime:
			return
		default:
			wait = documentTime // for the answer
			if sub.Ping(ctx) != nil {
				return
			}
			continue
		}
		if _, pong := message.(*redis.Pong); !pong {
			changed() // a message, or the word that the subscription stands
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
