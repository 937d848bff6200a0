//go:build linux

package main

import (
	"net/http"
	"time"

	"sundry/cache/far/redistest"
)

// causesOfSettings are those of the alerts about what operators change.
func causesOfSettings() []*cause {
	return []*cause{
		{
			alert: "SundrySettingsBehind", fires: 2 * time.Minute, resolves: 0, takes: 6 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				wire := newRelay(s.t, redis.Addr)
				p := s.ownOn(redis.URL())
				s.ownOn(wire.url())
				begin := func() { wire.set(false, reads(1<<30, cut)); s.setTTL(p, "90s") }
				return provoked(nil, begin, func() { wire.set(false, nil) })
			},
		},
		{
			alert: "SundrySettingsUnread", fires: 3 * time.Minute, resolves: 0, takes: 15 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				s.setTTL(s.ownOn(redis.URL()), "90s")
				begin := func() { redis.Must("ACL SETUSER default resetkeys ~sundry:[^s]*") } // not sundry:settings
				return provoked(nil, begin, func() { redis.Must("ACL SETUSER default allkeys") })
			},
		},
		{
			alert: "SundrySettingsRestored", fires: time.Hour, resolves: time.Hour, takes: 6 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				s.setTTL(s.ownOn(redis.URL()), "90s")
				return provoked(nil, func() { redis.Must("FLUSHALL") }, func() {})
			},
		},
		{
			alert: "SundrySettingsDamaged", fires: time.Hour, resolves: time.Hour, takes: 6 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				s.setTTL(s.ownOn(redis.URL()), "90s")
				return provoked(nil, func() { redis.Must("SET sundry:settings garbage") }, func() {})
			},
		},
		{
			alert: "SundrySettingsPending", fires: 5 * time.Minute, resolves: 0, takes: 6 * time.Second,
			stage: func(s *scene) act {
				redis := redistest.Start(s.t)
				p := s.ownOn(redis.URL())
				begin := func() { redis.Must("CONFIG SET min-replicas-to-write 1"); s.setTTL(p, "90s") }
				return provoked(nil, begin, func() { redis.Must("CONFIG SET min-replicas-to-write 0") })
			},
		},
	}
}

// ownOn starts an instance with the endpoint own on a Redis.
func (s *scene) ownOn(redis string) *instance {
	s.t.Helper()
	return s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", newOrigin(s.t).source("up", "")), "--redis", patient(redis))
}

// setTTL changes the rule of own, as operators do.
func (s *scene) setTTL(p *instance, ttl string) {
	s.t.Helper()
	if status := s.order(p, http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"`+ttl+`"}}`); status != http.StatusOK && status != http.StatusAccepted {
		s.t.Errorf("%s: the change is refused with %d", s.cause.alert, status)
	}
}
