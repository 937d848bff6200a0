package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
)

// fillKeys asks for all keys of zipf, some times: what is asked for again is popular.
func fillKeys(b *bench, r *row) error {
	all := numbered(keyPath, 1, zipfKeys)
	return r.fill(b.servers[sundryReplay], slices.Repeat(all, 4))
}

// fetchPictures asks until all pictures of the pool lie ready, most likely.
func fetchPictures(b *bench, r *row) error {
	return r.fill(b.servers[sundryReplay], slices.Repeat([]string{picturePath}, 3000))
}

// fill asks for all paths.
func (r *row) fill(s *server, paths []string) error {
	done := r.came(attack{times(len(paths)), 0, connections}.summary(r.targets(s, paths)))
	if done.failed > 0 {
		return fmt.Errorf("%d of %d requests failed", done.failed, len(paths))
	}
	return nil
}

// fillRedis has Sundry store all keys. It may leave an entry unwritten when many are
// waiting, so it is asked again until all are there: by then it has forgotten them.
func fillRedis(b *bench, r *row) error {
	client := b.redis()
	defer func() { _ = client.Close() }() // nothing is outstanding
	s := b.servers[sundryRedis]
	targets := r.targets(s, storedKeys(b, s))
	const gently = 8 // requests under way: no more than can be written meanwhile
	for range 20 {
		attack{pace: times(redisKeys), atMost: gently}.summary(targets)
		if err := b.written(s); err != nil {
			return err
		}
		if n, err := stored(b.ctx, client, "*benchkey:*"); err != nil || n >= redisKeys {
			return err
		}
	}
	return fmt.Errorf("storing %d entries in Redis: some are still not there", redisKeys)
}

// stored counts the keys like that: the rows that store have theirs in one Redis.
func stored(ctx context.Context, client *redis.Client, like string) (n int, err error) {
	it := client.Scan(ctx, 0, like, 10_000).Iterator()
	for it.Next(ctx) {
		n++
	}
	return n, it.Err()
}

func (b *bench) redis() *redis.Client {
	return redis.NewClient(&redis.Options{Network: "unix", Addr: b.file(redisSocket)})
}

// written waits until a Sundry has written to Redis what it has filled.
func (b *bench) written(s *server) error {
	return until("writing to redis", func() bool {
		m, err := b.admin(s, "/metrics")
		return err == nil && m.sum("sundry_far_queue_entries", "")+m.sum("sundry_far_queue_deletes", "") == 0
	})
}

// storedCost is the cost of misses with what is written to Redis behind them, and how many
// of 100 do not get there.
func storedCost(b *bench, r *row, s *server) error {
	client := b.redis()
	defer func() { _ = client.Close() }() // nothing is outstanding
	const like = "*benchitem:*"
	before, err := stored(b.ctx, client, like)
	if err != nil {
		return err
	}
	done, used, err := b.during(r.counted, []*server{s}, func() (outcome, error) {
		done, err := b.load(r, s, r.paths(b, s))
		return done, errors.Join(err, b.written(s))
	})
	if err = errors.Join(err, r.check(s, done, used)); err != nil {
		return err
	}
	after, err := stored(b.ctx, client, like)
	b.note(r.name, s.column, used.cpu/float64(done.answers))
	b.note(r.name, "lost", max(0, 100-100*float64(after-before)/float64(done.answers)))
	return err
}

// memory measures by how much a Sundry grows that gets 100,000 entries, in bytes for each
// byte of their bodies. It does so once: there is no noise to take the median of.
func memory(b *bench, r *row) error {
	const entries = 100_000
	s, err := b.started(sundryRoomy)
	if err != nil {
		return err
	}
	defer s.stop()
	// So that connections and buffers are there.
	if err := r.fill(s, numbered(keyPath, entries+1, 1000)); err != nil {
		return err
	}
	before, _, err := b.settled(s)
	if err != nil {
		return err
	}
	if err := r.fill(s, numbered(keyPath, 1, entries)); err != nil {
		return err
	}
	after, kept, err := b.settled(s)
	if err != nil {
		return err
	}
	if kept < entries {
		return fmt.Errorf("expected %d entries, got %.0f", entries, kept)
	}
	answer, err := b.ask(r, s, keyPath+"50000")
	if err != nil {
		return err
	}
	b.note(r.name, withExpress, (after-before)/entries/float64(len(answer.body)))
	return nil
}

// settled is the memory of a Sundry in bytes after garbage was collected, with the number
// of its entries: what is resident, without the free pages that the runtime has not given
// back. It keeps those up to twice the live heap, of which Sundry's ballast is a part, so
// that they say more about what was computed before than about what is kept.
func (b *bench) settled(s *server) (size, entries float64, err error) {
	for range 2 { // what the first has finalized is garbage for the second
		if _, err := b.admin(s, "/debug/pprof/heap?gc=1"); err != nil {
			return 0, 0, err
		}
	}
	m, err := b.admin(s, "/metrics")
	free := m.sum("go_memstats_heap_idle_bytes", "") - m.sum("go_memstats_heap_released_bytes", "")
	return m.sum("process_resident_memory_bytes", "") - free, m.sum("sundry_cache_memory_entries", ""), err
}
