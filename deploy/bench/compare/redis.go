//go:build linux

package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/deploy/bench/openloop"
)

// startRedis starts one that stores nothing on disk, on the core of the load.
func (b *bench) startRedis() error {
	p, err := b.Start("redis", b.loadCore, nil, "redis-server", "--port", "0", "--unixsocket", b.File("redis.sock"), "--save", "", "--appendonly", "no", "--dir", b.Dir)
	if err != nil {
		return err
	}
	if err := p.Begin(); err != nil {
		return err
	}
	client := b.redis(0)
	defer func() { _ = client.Close() }() // nothing is outstanding
	return b.Until("starting redis", func() bool { return client.Ping(b.Context).Err() == nil }, p)
}

// redisPatience has a busy machine wait for Redis. A read that takes longer than its
// usual time becomes a miss, which is not what is measured.
const redisPatience = "read_timeout=2s&pool_timeout=2s"

func (b *bench) redis(db int) *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: b.File("redis.sock"), DB: db})
}

// fillRedis has Sundry store all keys, and stores answers for the bare handler. Sundry
// may leave an entry unwritten when many are waiting, so it is asked again until all
// are there: by then it has forgotten them.
func fillRedis(b *bench, r *row) error {
	entries := b.redis(0)
	defer func() { _ = entries.Close() }() // nothing is outstanding
	s := b.servers[sundryRedis]
	l := b.requests(r, s, storedKeys(b, s, 0), "")
	l.Connections = 8 // no more than can be written meanwhile
	for range 20 {
		if _, err := l.Offer(openloop.Times(redisKeys)); err != nil {
			return err
		}
		if ok, err := b.complete(entries); err != nil || ok {
			return errors.Join(err, b.fillBare(r))
		}
	}
	return fmt.Errorf("storing %d entries in Redis: some are still not there", redisKeys)
}

// fillBare stores the answer to the first key under all of them, as their bytes differ
// in a number only, and their own under those that are looked at.
func (b *bench) fillBare(r *row) error {
	client := b.redis(1)
	defer func() { _ = client.Close() }() // nothing is outstanding
	s := b.servers[sundryRedis]
	samples := b.samples(r, s)
	pipe := client.Pipeline()
	for _, sample := range samples {
		answer, err := b.Get(s.url(sample), nil)
		if err != nil {
			return err
		}
		paths := []string{sample}
		if sample == samples[0] {
			paths = storedKeys(b, s, 0)
		}
		for _, path := range paths {
			pipe.Set(b.Context, path, answer.Body, 0)
		}
	}
	_, err := pipe.Exec(b.Context)
	return err
}

// complete waits for what Sundry writes behind requests.
func (b *bench) complete(client *redis.Client) (bool, error) {
	for range 10 {
		keys, err := client.Keys(b.Context, "*benchkey*").Result()
		if err != nil {
			return false, err
		}
		keys = withoutLeases(keys)
		if len(keys) >= redisKeys {
			return true, nil
		}
		select {
		case <-b.Context.Done():
			return false, b.Context.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false, nil
}

func withoutLeases(keys []string) []string {
	var out []string
	for _, key := range keys {
		if !strings.Contains(key, "lease") {
			out = append(out, key)
		}
	}
	return out
}
