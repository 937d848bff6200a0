package main

import (
	"fmt"
	"strconv"
	"strings"
)

// usage is what servers have used and counted until now, or for something.
type usage struct {
	cpu, redis     float64 // µs of the servers, and of Redis
	requests, good float64 // that Sundry has answered: all, and those of an outcome
	stored         float64 // looks into Redis that found an entry
	trips          float64 // to Redis
	calls          float64 // of upstreams
}

// usage is that of some servers together. Of a cache in front of a Sundry, what counts is
// what that has answered.
func (b *bench) usage(outcome string, servers ...*server) (u usage, err error) {
	for _, s := range servers {
		used, err := s.cpu()
		if err != nil {
			return u, err
		}
		if s.name == redisServer {
			u.redis = used
			u.trips, err = b.roundTrips()
		} else {
			u.cpu += used
			err = b.counted(&u, outcome, s)
		}
		if err != nil {
			return u, err
		}
	}
	return u, nil
}

// counted adds what a Sundry has counted.
func (b *bench) counted(u *usage, outcome string, s *server) error {
	if s.isCache() {
		s = b.servers[s.asks[0]]
	}
	if !s.isSundry() {
		return nil
	}
	m, err := b.admin(s, "/metrics")
	u.requests += m.sum("sundry_requests_total", "")
	u.good += m.sum("sundry_requests_total", `outcome="`+outcome+`"`)
	if outcome == "hit" { // a stale answer is as good a hit
		u.good += m.sum("sundry_requests_total", `outcome="stale"`)
	}
	u.stored += m.sum("sundry_far_reads_total", `result="hit"`)
	u.calls += m.sum("sundry_upstream_attempts_total", "")
	return err
}

// roundTrips are how often Redis has read from a connection: a pipeline is one.
func (b *bench) roundTrips() (float64, error) {
	client := b.redis()
	defer func() { _ = client.Close() }() // nothing is outstanding
	info, err := client.Info(b.ctx, "stats").Result()
	if err != nil {
		return 0, fmt.Errorf("counters of redis: %w", err)
	}
	_, rest, _ := strings.Cut(info, "total_reads_processed:")
	number, _, _ := strings.Cut(rest, "\r\n")
	return strconv.ParseFloat(number, 64)
}

// during is what servers use and count during a load.
func (b *bench) during(counted string, servers []*server, load func() (outcome, error)) (outcome, usage, error) {
	before, err := b.usage(counted, servers...)
	if err != nil {
		return outcome{}, before, err
	}
	done, err := load()
	if err != nil {
		return done, before, err
	}
	after, err := b.usage(counted, servers...)
	return done, after.since(before), err
}

func (u usage) since(v usage) usage {
	return usage{
		u.cpu - v.cpu, u.redis - v.redis, u.requests - v.requests, u.good - v.good, u.stored - v.stored,
		u.trips - v.trips, u.calls - v.calls,
	}
}
