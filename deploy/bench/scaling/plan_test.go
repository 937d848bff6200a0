//go:build linux

package main

import (
	"math"
	"slices"
	"testing"
)

func TestPlan(t *testing.T) {
	p := prices{near: 10, far: 40, miss: 100, farRedis: 4, missRedis: 20, farTrips: 1, missTrips: 4, farBytes: 1000, missBytes: 2000, answer: 1250, idle: 1000, idleRedis: 100, idleOps: 5}
	m := machine{cores: 4, gbit: 10, busy: 0.5}
	for name, c := range map[string]struct {
		l    load
		want plan
	}{
		// 100,000 × 10 µs are a core: of 2 that may be busy, and another instance.
		"near hits alone": {load{100_000, 1, 0, 0}, plan{cpu: 10, cores: 1.002, gbit: 1, instances: 2, trips: 10, redis: 0.0002, gbitRedis: 0, masters: 1}},
		// 0.9·10 + 0.05·40 + 0.05·100 = 16 µs; 0.05·4 + 0.05·20 = 1.2 µs of Redis.
		"a mix": {load{1_000_000, 0.9, 0.05, 0.05}, plan{cpu: 16, cores: 16.009, gbit: 10, instances: 9, trips: 250_045, redis: 1.2009, gbitRedis: 1.2, masters: 3}},
		// 10 cores of hits; 12.5 GB/s of answers are 100 Gbit/s.
		"the network": {load{10_000_000, 1, 0, 0}, plan{cpu: 10, cores: 100.051, gbit: 100, instances: 51, trips: 255, redis: 0.0051, gbitRedis: 0, masters: 1}},
	} {
		if got := p.plan(c.l, m); !same(got, c.want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, c.want)
		}
	}
	m.gbit = 1
	if got := p.plan(load{1_000_000, 1, 0, 0}, m); !got.network || got.instances != 21 {
		t.Errorf("10 Gbit/s over networks of 1 Gbit/s: %+v", got)
	}
}

func same(a, b plan) bool {
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-6*max(1, math.Abs(y)) }
	return near(a.cpu, b.cpu) && near(a.cores, b.cores) && near(a.gbit, b.gbit) && a.instances == b.instances && near(a.trips, b.trips) &&
		near(a.redis, b.redis) && near(a.gbitRedis, b.gbitRedis) && a.masters == b.masters && a.network == b.network
}

// TestLoadsAreWhole: all requests are of one kind or another.
func TestLoadsAreWhole(t *testing.T) {
	for _, l := range loads() {
		if sum := l.near + l.far + l.miss; math.Abs(sum-1) > 1e-9 {
			t.Errorf("%+v: shares of %v in all", l, sum)
		}
	}
}

func TestMedianRow(t *testing.T) {
	of := func(near, far float64) fleetRow {
		return fleetRow{instances: 2, near: cost{sundry: near, rate: 1 / near}, far: cost{redis: far}}
	}
	got := medianRow([]fleetRow{of(1, 30), of(4, 10), of(2, 20)})
	if got.instances != 2 || got.near.sundry != 2 || got.near.rate != 0.5 || got.far.redis != 20 {
		t.Errorf("%+v", got)
	}
}

func TestPopularity(t *testing.T) {
	ids := make([]int, 1000)
	for i := range ids {
		ids[i] = 5000 + i
	}
	asked := map[int]int{}
	for _, id := range popular(ids) {
		asked[id]++
	}
	// The first has a share of 1/H(1000) = 0.134, the tenth a tenth of that.
	if first, tenth := asked[5000], asked[5009]; first < zipfRequests/9 || first > zipfRequests/6 || tenth < first/15 || tenth > first/7 || asked[5999] > first/100 {
		t.Errorf("of %d requests %d for the first key, %d for the tenth, %d for the last", zipfRequests, first, tenth, asked[5999])
	}
	all := evenly(ids)
	if slices.IsSorted(all) {
		t.Error("in the order in which they were stored")
	}
	if slices.Sort(all); !slices.Equal(all, ids) {
		t.Error("not each key once")
	}
}
