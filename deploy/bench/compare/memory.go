//go:build linux

package main

import (
	"fmt"
	"net/http"

	"sundry/deploy/bench/openloop"
)

const (
	memoryEntries = 100_000
	memoryServer  = "sundry-memory"
)

// memory measures by how much a Sundry grows that gets so many entries, in bytes for
// each byte of their bodies. It does so once: there is no noise to take the median of.
func memory(b *bench, r *row, round int) error {
	if round > 0 {
		return nil
	}
	if err := b.startSundry(memoryServer, b.serverCore, []string{"SUNDRY_CACHE_MEMORY=1GiB"}, "--replay", "--catalog", "catalog"); err != nil {
		return err
	}
	s := b.servers[memoryServer]
	defer s.process.Stop()
	asked := &row{method: http.MethodGet}
	fill := func(first, n int) (*openloop.Result, error) {
		return b.requests(asked, s, numbered(keyPath, first, n), "").Offer(openloop.Times(n))
	}
	if _, err := fill(memoryEntries+1, 1000); err != nil { // so that connections and buffers are there
		return err
	}
	before, err := b.Settled(s.process, s.admin)
	if err != nil {
		return err
	}
	good := 0
	for i := 0; i < attempts && good < memoryEntries; i++ {
		result, err := fill(1, memoryEntries)
		if err != nil {
			return err
		}
		good = result.Statuses[http.StatusOK]
	}
	if good != memoryEntries {
		return fmt.Errorf("expected %d answers, got %d", memoryEntries, good)
	}
	after, err := b.Settled(s.process, s.admin)
	if err != nil {
		return err
	}
	if err := b.allThere(s); err != nil {
		return err
	}
	sample, err := b.Get(s.url(keyPath+fmt.Sprint(memoryEntries/2)), nil)
	if err != nil {
		return err
	}
	growth := float64(after-before) / memoryEntries / float64(len(sample.Body))
	b.results.add(r.name, withExpress, growth)
	b.Say("memory: from %d to %d MiB by %d entries of %d bytes: %.2f", before>>20, after>>20, memoryEntries, len(sample.Body), growth)
	return nil
}

// allThere asks for a sample of all entries, which must be hits.
func (b *bench) allThere(s *server) error {
	before, err := b.counters(s)
	if err != nil {
		return err
	}
	for id := 1; id <= memoryEntries; id += 100 {
		if _, err := b.Get(s.url(keyPath+fmt.Sprint(id)), nil); err != nil {
			return err
		}
	}
	after, err := b.counters(s)
	if err != nil {
		return err
	}
	if n := after["hit"] - before["hit"]; n != memoryEntries/100 {
		return fmt.Errorf("of %d entries only %.0f are still there", memoryEntries/100, n)
	}
	return nil
}
