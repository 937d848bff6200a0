//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

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
	defer s.process.stop()
	asked := &row{method: http.MethodGet}
	fill := func(first, n int) (*openloop.Result, error) {
		return b.requests(asked, s, numbered(keyPath, first, n), "").Offer(openloop.Times(n))
	}
	if _, err := fill(memoryEntries+1, 1000); err != nil { // so that connections and buffers are there
		return err
	}
	before, err := b.settled(s)
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
	after, err := b.settled(s)
	if err != nil {
		return err
	}
	if err := b.allThere(s); err != nil {
		return err
	}
	sample, err := b.get(s.url(keyPath+fmt.Sprint(memoryEntries/2)), nil)
	if err != nil {
		return err
	}
	growth := float64(after-before) / memoryEntries / float64(len(sample.body))
	b.results.add(r.name, withExpress, growth)
	b.say("memory: from %d to %d MiB by %d entries of %d bytes: %.2f", before>>20, after>>20, memoryEntries, len(sample.body), growth)
	return nil
}

// allThere asks for a sample of all entries, which must be hits.
func (b *bench) allThere(s *server) error {
	before, err := b.counters(s)
	if err != nil {
		return err
	}
	for id := 1; id <= memoryEntries; id += 100 {
		if _, err := b.get(s.url(keyPath+fmt.Sprint(id)), nil); err != nil {
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

// settled is the memory of a server after garbage was collected: what is resident,
// without the free pages that the runtime has not given back. It keeps those up to
// twice the live heap, of which Sundry's ballast is a part, so that they say more
// about what was computed before than about what is kept.
func (b *bench) settled(s *server) (int64, error) {
	var profile *reply
	for range 2 { // what the first has finalized is garbage for the second
		var err error
		if profile, err = b.get("http://"+s.admin+"/debug/pprof/heap?gc=1&debug=1", nil); err != nil {
			return 0, err
		}
	}
	resident, err := s.process.resident()
	if err != nil {
		return 0, err
	}
	idle, err1 := heapStatistic(profile.body, "HeapIdle")
	released, err2 := heapStatistic(profile.body, "HeapReleased")
	return resident - (idle - released), errors.Join(err1, err2)
}

// heapStatistic is one of runtime.MemStats, at the end of a heap profile.
func heapStatistic(profile, name string) (int64, error) {
	_, rest, ok := strings.Cut(profile, "# "+name+" = ")
	value, _, ends := strings.Cut(rest, "\n")
	if !ok || !ends {
		return 0, fmt.Errorf("heap profile: no %s", name)
	}
	return strconv.ParseInt(value, 10, 64)
}
