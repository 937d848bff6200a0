//go:build linux

package main

import "sundry/deploy/bench/harness"

// medianRow is the median of each figure of several rounds.
func medianRow(rounds []fleetRow) fleetRow {
	of := func(pick func(*fleetRow) *cost) cost {
		var c cost
		for _, field := range []func(*cost) *float64{
			func(c *cost) *float64 { return &c.sundry }, func(c *cost) *float64 { return &c.redis },
			func(c *cost) *float64 { return &c.received }, func(c *cost) *float64 { return &c.sent },
			func(c *cost) *float64 { return &c.answer }, func(c *cost) *float64 { return &c.rate },
		} {
			var all []float64
			for i := range rounds {
				all = append(all, *field(pick(&rounds[i])))
			}
			*field(&c) = harness.Median(all)
		}
		return c
	}
	return fleetRow{
		instances: rounds[0].instances,
		near:      of(func(r *fleetRow) *cost { return &r.near }), far: of(func(r *fleetRow) *cost { return &r.far }),
		miss: of(func(r *fleetRow) *cost { return &r.miss }), refresh: of(func(r *fleetRow) *cost { return &r.refresh }),
	}
}
