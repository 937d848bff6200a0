//go:build linux

package main

import (
	"fmt"
	"time"

	"sundry/deploy/bench/harness"
)

// idleRow is what instances cost that nobody asks, each, in a second.
type idleRow struct {
	instances      int
	sundry, redis  float64 // µs of CPU
	commands       float64 // to Redis
	received, sent float64 // bytes, by Redis
	resident       float64 // bytes of memory, at the end
}

// idle waits for as long as three measurements take.
func (b *bench) idle(fleet []*harness.Sundry) (idleRow, error) {
	begin, err := b.usage(fleet)
	if err != nil {
		return idleRow{}, err
	}
	began := time.Now()
	if err := b.pause(3 * b.span); err != nil {
		return idleRow{}, err
	}
	end, err := b.usage(fleet)
	if err != nil {
		return idleRow{}, fmt.Errorf("of %d instances: %w", len(fleet), err)
	}
	resident := 0.0
	for _, s := range fleet {
		n, err := s.Resident()
		if err != nil {
			return idleRow{}, err
		}
		resident += float64(n) / float64(len(fleet))
	}
	used, each := end.since(begin), 1/time.Since(began).Seconds()/float64(len(fleet))
	return idleRow{
		len(fleet), micros(used.sundry) * each, micros(used.redis) * each, (used.traffic.commands - 1) * each, // without the bench's own INFO
		used.traffic.received * each, used.traffic.sent * each, resident,
	}, nil
}
