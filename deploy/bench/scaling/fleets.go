//go:build linux

package main

import (
	"fmt"

	"sundry/deploy/bench/harness"
)

// fleetRow is what requests cost with so many instances.
type fleetRow struct {
	instances       int
	near, far, miss cost
	refresh         cost
}

// ordinaryMemory is cache.memory where nothing depends on it, in bytes.
const ordinaryMemory = 256 << 20

// measureFleets measures each kind of request with one instance, two and so on. All
// instances share a core: what counts is the CPU of a request.
func (b *bench) measureFleets(f *figures) error {
	for _, n := range b.instances {
		var rounds []fleetRow
		for range b.rounds {
			row, err := b.fleetRound(n)
			if err != nil {
				return fmt.Errorf("%d instances: %w", n, err)
			}
			b.Say("%d instances: near hit %.1f µs, far hit %.1f + %.1f, miss %.1f + %.1f, refresh %.1f + %.1f", n, row.near.sundry,
				row.far.sundry, row.far.redis, row.miss.sundry, row.miss.redis, row.refresh.sundry, row.refresh.redis)
			rounds = append(rounds, row)
		}
		f.fleets = append(f.fleets, medianRow(rounds))
		idle, err := b.idleFleet(n)
		if err != nil {
			return err
		}
		f.idle = append(f.idle, idle)
	}
	return nil
}

// idleFleet measures instances that have just started.
func (b *bench) idleFleet(n int) (idleRow, error) {
	fleet, err := b.fleet(n, ordinaryMemory, b.address)
	if err != nil {
		return idleRow{}, err
	}
	defer end(fleet)
	if err := b.pause(b.span); err != nil { // until they have started
		return idleRow{}, err
	}
	return b.idle(fleet)
}

// fleetKeys is how many keys the instances of a fleet are asked for in a round.
func (b *bench) fleetKeys() int { return b.keys[min(1, len(b.keys)-1)] }

// fleetRound has a fleet fill keys, and another look them up in Redis, hit them in its
// memory, and refresh some.
func (b *bench) fleetRound(n int) (row fleetRow, err error) {
	row.instances = n
	ids := b.fresh(b.fleetKeys())
	fillers, err := b.fleet(n, ordinaryMemory, b.address)
	if err != nil {
		return row, err
	}
	row.miss, err = b.cost(fillers, miss, func() (offered, error) { return b.fill(fillers, ids) })
	end(fillers)
	if err != nil {
		return row, err
	}
	fleet, err := b.fleet(n, ordinaryMemory, b.address)
	if err != nil {
		return row, err
	}
	defer end(fleet)
	all := func(int) []int { return ids }
	if row.far, err = b.cost(fleet, farHit, func() (offered, error) { return b.offer(fleet, lookups, all, 0) }); err != nil {
		return row, err
	}
	if row.near, err = b.nearHits(fleet, popular(ids)); err != nil {
		return row, err
	}
	row.refresh, err = b.refreshes(fleet)
	return row, err
}

// refreshes measures stale hits with their refreshes, on the first instance, of keys of
// which all instances have copies: each is announced to all.
func (b *bench) refreshes(fleet []*harness.Sundry) (cost, error) {
	ids := b.fresh(fillBatch)
	for i := range fleet {
		if _, err := b.offer(fleet[i:i+1], stales, func(int) []int { return ids }, 0); err != nil {
			return cost{}, err
		}
		if err := b.written(stales, ids); err != nil {
			return cost{}, err
		}
	}
	if err := b.makeStale(fleet); err != nil {
		return cost{}, err
	}
	before, err := b.calls(announcements)
	if err != nil {
		return cost{}, err
	}
	return b.cost(fleet, staleHit, func() (offered, error) {
		done, err := b.offer(fleet[:1], stales, func(int) []int { return ids }, 0)
		if err != nil {
			return done, err
		}
		return done, b.called(announcements, len(ids), before)
	})
}
