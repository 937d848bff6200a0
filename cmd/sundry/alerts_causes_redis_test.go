//go:build linux

package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"sundry/cache/far/redistest"
)

// causesOfRedis are those of the alerts about Redis.
func causesOfRedis() []*cause {
	return []*cause{
		{
			alert: "SundryRedisOut", fires: 5*time.Minute + 5*time.Minute, resolves: 5 * time.Minute, takes: 5 * time.Second,
			stage: func(s *scene) act {
				wire := newRelay(s.t, redistest.Start(s.t).Addr)
				s.load(100*time.Millisecond, eachID(s.ownOn(wire.url())))
				return provoked(s.requests(20), func() { wire.set(true, nil) }, func() { wire.set(false, nil) })
			},
		},
		{
			alert: "SundryRedisWritesFail", fires: 5*time.Minute + 15*time.Minute, resolves: 5 * time.Minute, takes: 3 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				s.load(100*time.Millisecond, eachID(s.ownOn(redis.URL())))
				return provoked(s.requests(20), func() { redis.Must("CONFIG SET min-replicas-to-write 1") }, func() { redis.Must("CONFIG SET min-replicas-to-write 0") })
			},
		},
		{
			alert: "SundryRedisWritesDropped", fires: 5*time.Minute + 10*time.Minute, resolves: 5 * time.Minute, takes: 30 * time.Second,
			stage: slowLink,
		},
		{
			alert: "SundryRedisMemory", fires: 15 * time.Minute, resolves: 0, takes: 2 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				s.ownOn(redis.URL())
				var used float64
				ready := func() (ok bool) {
					used, ok = s.watch.number(fmt.Sprintf(`sundry_far_memory_bytes{job=%q} > 0`, s.job))
					return ok
				}
				return provoked(ready, func() { redis.Must(fmt.Sprintf("CONFIG SET maxmemory %d", int(used*1.03))) }, func() { redis.Must("CONFIG SET maxmemory 0") })
			},
		},
	}
}

// slowLink has more answers written to Redis than a narrow link takes, so that they wait for longer than they may.
func slowLink(s *scene) act {
	o := newOrigin(s.t)
	b := make([]byte, 1000)
	_, _ = rand.Read(b)
	body := `{"id":"` + hex.EncodeToString(b) + `"}`
	o.body.Store(&body)
	wire := newRelay(s.t, redistest.Start(s.t).Addr)
	p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("up", "")), "--redis", patient(wire.url())+"&write_timeout=10s")
	s.load(5*time.Millisecond, eachID(p))
	return provoked(s.requests(50), func() { wire.slow(nil, 40_000) }, func() { wire.slow(nil, 0) })
}
