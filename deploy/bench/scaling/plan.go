//go:build linux

package main

import (
	"cmp"
	"math"
	"slices"
)

// load is what is to be answered.
type load struct {
	rate            float64 // requests a second
	near, far, miss float64 // shares of near hits, far hits, and misses with refreshes: 1 in all
}

// loads are the rows of the plan.
func loads() []load {
	var all []load
	for _, rate := range []float64{100_000, 1_000_000} {
		all = append(all, load{rate, 0.995, 0.004, 0.001}, load{rate, 0.95, 0.04, 0.01}, load{rate, 0.80, 0.15, 0.05})
	}
	return all
}

// machine is what one instance has.
type machine struct {
	cores float64
	gbit  float64 // of its network, a second
	busy  float64 // share of both, and of a core of Redis, that is used at most
}

// planned is the machine of the plan.
func planned() machine { return machine{cores: 4, gbit: 10, busy: 0.6} }

// prices are what a plan multiplies with.
type prices struct {
	near, far, miss          float64 // µs of CPU of an instance
	farRedis, missRedis      float64 // µs of CPU of Redis
	farTrips, missTrips      float64
	farBytes, missBytes      float64 // between an instance and Redis
	answer                   float64 // bytes
	idle, idleRedis, idleOps float64 // of an instance, a second: µs, µs, commands
}

// prices are the figures with the most instances.
func (f *figures) prices() prices {
	row, idle := f.fleets[len(f.fleets)-1], f.idle[len(f.idle)-1]
	return prices{
		near: row.near.sundry, far: row.far.sundry, miss: row.miss.sundry, farRedis: row.far.redis, missRedis: row.miss.redis,
		farTrips: f.trip(farName), missTrips: f.trip(missName),
		farBytes: row.far.received + row.far.sent, missBytes: row.miss.received + row.miss.sent, answer: row.near.answer,
		idle: idle.sundry, idleRedis: idle.redis, idleOps: idle.commands,
	}
}

func (f *figures) trip(name string) float64 {
	i := slices.IndexFunc(f.trips, func(r tripRow) bool { return r.name == name })
	return f.trips[i].each
}

// plan is what a load takes.
type plan struct {
	cpu       float64 // µs of an instance's CPU for a request, on average
	cores     float64 // of all instances
	gbit      float64 // of answers, a second, without TLS
	instances float64 // one of which may fail
	network   bool    // it is their network that they are needed for
	trips     float64 // round trips to Redis, a second
	redis     float64 // cores of Redis
	gbitRedis float64 // to and from Redis, a second
	masters   float64 // of a Cluster; 1: a single Redis
}

// plan computes it. What instances cost that nobody asks is added for as many as there
// are.
func (p prices) plan(l load, m machine) plan {
	const bitsOfByte, giga, million = 8, 1e9, 1e6
	out := plan{
		cpu:  l.near*p.near + l.far*p.far + l.miss*p.miss,
		gbit: l.rate * p.answer * bitsOfByte / giga,
	}
	out.cores = l.rate * out.cpu / million
	byCores, byNetwork := math.Ceil(out.cores/(m.cores*m.busy)), math.Ceil(out.gbit/(m.gbit*m.busy))
	out.network = byNetwork > byCores
	out.instances = max(byCores, byNetwork) + 1
	out.cores += out.instances * p.idle / million
	out.trips = l.rate*(l.far*p.farTrips+l.miss*p.missTrips) + out.instances*p.idleOps
	out.redis = (l.rate*(l.far*p.farRedis+l.miss*p.missRedis) + out.instances*p.idleRedis) / million
	out.gbitRedis = l.rate * (l.far*p.farBytes + l.miss*p.missBytes) * bitsOfByte / giga
	out.masters = cmp.Or(math.Ceil(out.redis/m.busy), 1)
	return out
}
