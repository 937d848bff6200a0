package far

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// SharedMap are values that the instances of a fleet leave for each other, by name. They
// are the fields of one hash, and so on one node of a Cluster; all are kept for as long
// as one was put within the life of the map. Its methods return errors, as those of
// SharedValue do: it has the same connections, and no request waits for it.
type SharedMap struct {
	tier *Tier
	key  string
	life time.Duration
}

// SharedMap opens the map of that name. It does not call Redis.
func (t *Tier) SharedMap(name string, life time.Duration) *SharedMap {
	return &SharedMap{tier: t, key: t.cfg.Prefix + name, life: life}
}

// Put stores a value in the place of what had that name.
func (m *SharedMap) Put(ctx context.Context, name string, value []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	p := m.tier.sharedValues.Pipeline()
	p.HSet(ctx, m.key, name, value)
	p.PExpire(ctx, m.key, m.life)
	_, err := p.Exec(ctx)
	return err
}

// Names are those of all values, in no order.
func (m *SharedMap) Names(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	return m.tier.sharedValues.HKeys(ctx, m.key).Result()
}

// Get reads a value; nil when there is none.
func (m *SharedMap) Get(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	b, err := m.tier.sharedValues.HGet(ctx, m.key, name).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return b, err
}

// takeScript reads a value and removes it.
const takeScript = `
local value = redis.call("hget", KEYS[1], ARGV[1])
redis.call("hdel", KEYS[1], ARGV[1])
return value`

// Take reads a value and removes it; nil when there is none. Of those who take one at the
// same time, one gets it.
func (m *SharedMap) Take(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sharedValueTime)
	defer cancel()
	s, err := m.tier.sharedValues.Eval(ctx, takeScript, []string{m.key}, name).Text()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return []byte(s), err
}
