//go:build linux

package main

import (
	"fmt"
	"time"

	"sundry/deploy/bench/harness"
)

// growthRow is what requests and entries cost with so many keys.
type growthRow struct {
	keys            int
	near, far, miss cost    // near hits of keys of Zipf popularity
	even            cost    // near hits of keys that are asked for evenly
	body            float64 // bytes of an answer without its head
	// redis is what Redis uses for an entry, in bytes; near what an instance does whose
	// near tier has it, each in excess of what an empty one uses.
	redisEach, nearEach float64
	resident            float64 // bytes of that instance
	redisUsed           float64 // bytes of Redis
}

// keyMemory is cache.memory for an entry of the bench: a third of it is for keys of
// callers' input.
const keyMemory = 4 << 10

// keyFillers is how many instances fill keys: by themselves, each waits for Redis longer
// than it computes.
const keyFillers = 4

// measureGrowth has some instances fill ever more keys, and another, whose near tier holds
// all of them, look them up in Redis and hit them.
func (b *bench) measureGrowth(f *figures) error {
	fillers, err := b.fleet(keyFillers, ordinaryMemory, b.address)
	if err != nil {
		return err
	}
	defer end(fillers)
	readers, err := b.fleet(1, max(ordinaryMemory, int64(b.keys[len(b.keys)-1])*keyMemory), b.address)
	if err != nil {
		return err
	}
	defer end(readers)
	g := &growing{bench: b, fillers: fillers, readers: readers}
	if err := g.begin(); err != nil {
		return err
	}
	for _, n := range b.keys {
		row, err := g.grow(n)
		if err != nil {
			return fmt.Errorf("%d keys: %w", n, err)
		}
		b.Say("%d keys: near hit %.1f µs (%.1f evenly), far hit %.1f + %.1f, miss %.1f + %.1f; %.0f bytes in the near tier, %.0f in redis", n, row.near.sundry, row.even.sundry,
			row.far.sundry, row.far.redis, row.miss.sundry, row.miss.redis, row.nearEach, row.redisEach)
		f.growth = append(f.growth, row)
	}
	return nil
}

// settling is how long Redis may take to free what connections of earlier instances had.
const settling = time.Second

// growing is the measurement while it goes on.
type growing struct {
	*bench
	fillers, readers []*harness.Sundry
	ids              []int   // that are in both tiers
	body             float64 // bytes
	resident, used   float64 // bytes of the reader and of Redis while they are empty
}

// begin asks for some keys, so that connections and buffers are there, and takes the
// measure of what is empty.
func (g *growing) begin() error {
	ids := g.fresh(connections * 4)
	if _, err := g.fill(g.fillers, ids); err != nil {
		return err
	}
	if _, err := g.offer(g.readers, lookups, func(int) []int { return ids }, 0); err != nil {
		return err
	}
	answer, err := g.Get("http://"+g.readers[0].Address+pathOf(lookups, ids[0]), nil)
	if err != nil {
		return err
	}
	g.body = float64(len(answer.Body))
	if err := g.pause(settling); err != nil {
		return err
	}
	g.resident, g.used, err = g.sizes()
	return err
}

func (g *growing) sizes() (resident, used float64, err error) {
	settled, err := g.Settled(g.readers[0].Process, g.readers[0].Admin)
	if err != nil {
		return 0, 0, err
	}
	t, err := g.traffic()
	return float64(settled), t.memory, err
}

// grow fills keys until there are so many, then measures.
func (g *growing) grow(n int) (row growthRow, err error) {
	row.keys, row.body = n, g.body
	added := g.fresh(n - len(g.ids))
	if row.miss, err = g.cost(g.fillers, miss, func() (offered, error) { return g.fill(g.fillers, added) }); err != nil {
		return row, err
	}
	if err := g.written(lookups, added); err != nil {
		return row, err
	}
	if row.far, err = g.cost(g.readers, farHit, func() (offered, error) {
		return g.offer(g.readers, lookups, func(int) []int { return added }, 0)
	}); err != nil {
		return row, err
	}
	g.ids = append(g.ids, added...)
	resident, used, err := g.sizes()
	if err != nil {
		return row, err
	}
	row.nearEach, row.redisEach = (resident-g.resident)/float64(n), (used-g.used)/float64(n)
	row.resident, row.redisUsed = resident, used
	if row.near, err = g.nearHits(g.readers, popular(g.ids)); err != nil {
		return row, err
	}
	row.even, err = g.nearHits(g.readers, evenly(g.ids))
	return row, err
}
