//go:build linux

package main

import (
	"fmt"
	"time"

	"sundry/deploy/bench/harness"
)

// cost is what requests of one kind have cost, each.
type cost struct {
	sundry, redis  float64 // µs of CPU
	received, sent float64 // bytes, by Redis
	answer         float64 // bytes, with its head
	rate           float64 // answers a second, of all instances together
}

// kind is what requests are meant to be. All that instances count must be of its
// outcome, and so many of them looks into Redis that found an entry.
type kind struct {
	outcome string
	looks   bool
}

var (
	nearHit  = kind{"hit", false}
	farHit   = kind{"hit", true}
	miss     = kind{"miss", false}
	staleHit = kind{"stale", true} // the refresh looks
)

// cost measures what a load costs the instances of a fleet, together, and Redis.
func (b *bench) cost(fleet []*harness.Sundry, k kind, load func() (offered, error)) (cost, error) {
	before, err := b.counts(fleet)
	if err != nil {
		return cost{}, err
	}
	begin, err := b.usage(fleet)
	if err != nil {
		return cost{}, err
	}
	done, err := load()
	if err != nil {
		return cost{}, err
	}
	end, err := b.usage(fleet)
	if err != nil {
		return cost{}, err
	}
	after, err := b.counts(fleet)
	if err != nil {
		return cost{}, err
	}
	return end.since(begin).each(done), k.check(before, after, float64(done.answers))
}

// usage is what was used until now.
type usage struct {
	sundry, redis time.Duration // CPU
	traffic       traffic
}

func (b *bench) usage(fleet []*harness.Sundry) (u usage, err error) {
	for _, s := range fleet {
		used, err := s.CPU()
		if err != nil {
			return u, err
		}
		u.sundry += used
	}
	if u.traffic, err = b.traffic(); err != nil {
		return u, err
	}
	u.redis, err = b.server.CPU()
	return u, err
}

func (u usage) since(v usage) usage {
	return usage{u.sundry - v.sundry, u.redis - v.redis, u.traffic.since(v.traffic)}
}

// each is what was used for each answer.
func (u usage) each(done offered) cost {
	n := float64(done.answers)
	return cost{
		sundry: micros(u.sundry) / n, redis: micros(u.redis) / n, received: u.traffic.received / n, sent: u.traffic.sent / n,
		answer: float64(done.bytes) / n, rate: n / done.span.Seconds(),
	}
}

func micros(d time.Duration) float64 { return d.Seconds() * 1e6 }

// counts are what instances have counted until now.
type counts struct {
	outcomes map[string]float64 // of requests
	found    float64            // looks into Redis that found an entry
}

func (b *bench) counts(fleet []*harness.Sundry) (counts, error) {
	c := counts{outcomes: map[string]float64{}}
	for _, s := range fleet {
		families, err := b.Metrics(s.Admin)
		if err != nil {
			return c, err
		}
		for outcome, n := range families.Counts("sundry_requests_total", "outcome") {
			c.outcomes[outcome] += n
		}
		c.found += families.Counts("sundry_far_reads_total", "result")["hit"]
	}
	return c, nil
}

// check fails if some of the requests were of another kind.
func (k kind) check(before, after counts, answers float64) error {
	others := map[string]float64{}
	for outcome, n := range after.outcomes {
		if d := n - before.outcomes[outcome]; d > 0 {
			others[outcome] = d
		}
	}
	counted := others[k.outcome]
	delete(others, k.outcome)
	if counted != answers || len(others) > 0 {
		return fmt.Errorf("of %.0f answers %.0f were counted as %s, and others as %v", answers, counted, k.outcome, others)
	}
	wanted := 0.0
	if k.looks {
		wanted = answers
	}
	if found := after.found - before.found; found != wanted {
		return fmt.Errorf("of %.0f answers %.0f came from redis: expected %.0f", answers, found, wanted)
	}
	return nil
}
