//go:build linux

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"sundry/deploy/bench/harness"
)

// startRedis starts one that stores nothing on disk, on the core of the load.
func (b *bench) startRedis() error {
	address, err := harness.FreePort()
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(address, ":")
	b.server, err = b.Start("redis", b.loadCore, nil, "redis-server", "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", b.Dir)
	if err != nil {
		return err
	}
	if err := b.server.Begin(); err != nil {
		return err
	}
	b.address, b.redis = address, redis.NewClient(&redis.Options{Addr: address})
	return b.Until("starting redis", func() bool { return b.redis.Ping(b.Context).Err() == nil }, b.server)
}

// written waits until Redis holds the entries of keys, and no lease of them: then the
// announcements of the entries were made as well.
func (b *bench) written(endpoint string, ids []int) error {
	for batch := range slices.Chunk(ids, fillBatch) {
		if err := b.batchWritten(endpoint, batch); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) batchWritten(endpoint string, ids []int) error {
	prefix, err := b.prefixOf(endpoint)
	if err != nil {
		return err
	}
	entries, leases := make([]string, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		key := prefix + strconv.Itoa(id) + "|"
		entries[i], leases[i] = storedPrefix+key, storedPrefix+"lease:"+key
	}
	return b.Until("writing entries to redis", func() bool {
		stored, err1 := b.redis.Exists(b.Context, entries...).Result()
		leased, err2 := b.redis.Exists(b.Context, leases...).Result()
		return err1 == nil && err2 == nil && stored == int64(len(ids)) && leased == 0
	}, b.server)
}

// called waits until Redis was called so many times more than before with a command: it
// costs Redis next to nothing.
func (b *bench) called(command string, more, before int) error {
	return b.Until(fmt.Sprintf("%d times %s", more, command), func() bool {
		n, err := b.calls(command)
		return err == nil && n >= before+more
	}, b.server)
}

// What is called once for each fill, and for each announcement.
const (
	releases      = "del" // of the lease, by the script, after the entry was written
	announcements = "publish"
)

// calls is how often Redis was called with a command.
func (b *bench) calls(command string) (int, error) {
	info, err := b.redis.Info(b.Context, "commandstats").Result()
	if err != nil {
		return 0, fmt.Errorf("counters of redis: %w", err)
	}
	_, found, _ := strings.Cut(info, "cmdstat_"+command+":calls=")
	number, _, _ := strings.Cut(found, ",")
	if number == "" {
		return 0, nil // never
	}
	return strconv.Atoi(number)
}

// storedPrefix is that of all keys in Redis.
const storedPrefix = "sundry:"

// prefixOf is what stands before the number in the keys of an endpoint's entries, some
// of which are in Redis, or soon will be.
func (b *bench) prefixOf(endpoint string) (string, error) {
	if b.prefix[endpoint] != "" {
		return b.prefix[endpoint], nil
	}
	err := b.Until("writing the first entry of "+endpoint, func() bool {
		keys, err := b.redis.Keys(b.Context, storedPrefix+endpoint+":*").Result()
		if err != nil || len(keys) == 0 {
			return false
		}
		key := strings.TrimPrefix(keys[0], storedPrefix)
		b.prefix[endpoint] = key[:strings.LastIndexByte(key, ':')+1]
		return true
	}, b.server)
	return b.prefix[endpoint], err
}

// traffic are counters of Redis since it started.
type traffic struct{ commands, received, sent, memory float64 }

func (t traffic) since(u traffic) traffic {
	return traffic{t.commands - u.commands, t.received - u.received, t.sent - u.sent, t.memory - u.memory}
}

// traffic reads the counters, and the bytes of memory that are in use, without those of
// its connections.
func (b *bench) traffic() (traffic, error) {
	info, err := b.redis.Info(b.Context, "stats", "memory").Result()
	if err != nil {
		return traffic{}, fmt.Errorf("counters of redis: %w", err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = n
		}
	}
	return traffic{values["total_commands_processed"], values["total_net_input_bytes"], values["total_net_output_bytes"], values["used_memory"] - values["mem_clients_normal"]}, nil
}
