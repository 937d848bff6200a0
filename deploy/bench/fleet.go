package main

import (
	"errors"
	"fmt"
	"slices"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func fleetColumns() []string { return []string{"µs of Redis", "round trips", "upstream calls"} }

// fleetSizes are numbers of instances, ascending.
func fleetSizes() []int { return []int{1, 4} }

// kind is what requests to a fleet are meant to be.
type kind struct {
	name, outcome string
	stored        float64 // looks into Redis that find an entry, for each
	restart       bool    // the instances have nothing in memory
}

func kinds() []kind {
	return []kind{{"miss", "miss", 0, true}, {"far hit", "hit", 1, true}, {"near hit", "hit", 0, false}}
}

func (k kind) rowName(instances int) string {
	return fmt.Sprintf("%s, instances: %d", k.name, instances)
}

// fleet has instances filled, has others, which have just started, look up in Redis what
// those have filled, and then hit it in their memory.
func fleet(b *bench, _ *row) error {
	for _, n := range fleetSizes() {
		paths := b.items(itemPath, 2000)
		for _, k := range kinds() {
			members, err := b.members(n, k.restart)
			if err == nil {
				err = b.fleetCost(k, members, paths)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", k.rowName(n), err)
			}
		}
	}
	return nil
}

// members are the instances of a fleet.
func (b *bench) members(n int, restart bool) ([]*server, error) {
	var all []*server
	for i := range n {
		if s := b.servers[member(i)]; restart {
			s.stop()
		}
		s, err := b.started(member(i))
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// member is the name of an instance.
func member(i int) string { return fmt.Sprintf("%s-%d", sundryShares, i+1) }

// fleetCost is what a request for a path costs Redis. Each instance is asked for each, or
// for a share where only the first request for a path is of that kind; one after the
// other, because requests at the same time share round trips.
func (b *bench) fleetCost(k kind, members []*server, paths []string) error {
	r := &row{}
	var targets []vegeta.Target
	for i, path := range paths {
		for j, s := range members {
			if k.outcome != "miss" || i%len(members) == j {
				targets = append(targets, r.targets(s, []string{path})...)
			}
		}
	}
	all := append(slices.Clone(members), b.servers[redisServer])
	done, used, err := b.during(k.outcome, all, func() (outcome, error) {
		done := r.came(attack{times(len(targets)), 0, 1}.summary(targets))
		for _, s := range members {
			if err := b.written(s); err != nil {
				return done, err
			}
		}
		return done, nil
	})
	if err = errors.Join(err, k.check(used, done)); err != nil {
		return err
	}
	n := float64(done.answers)
	for i, v := range []float64{used.redis, used.trips, used.calls} {
		b.note(k.rowName(len(members)), fleetColumns()[i], v/n)
	}
	return nil
}

// check fails if some of the requests were of another kind.
func (k kind) check(used usage, done outcome) error {
	n := float64(done.answers)
	if done.failed > 0 || used.good != n || used.requests != n || used.stored != n*k.stored {
		return fmt.Errorf("of %.0f answers %d failed; %+v", n, done.failed, used)
	}
	return nil
}
