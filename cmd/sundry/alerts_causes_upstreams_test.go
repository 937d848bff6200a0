//go:build linux

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"sundry/cache/far/redistest"
)

// causesOfUpstreams are those of the alerts about sources and APIs, and about calling them.
func causesOfUpstreams() []*cause {
	return []*cause{
		{
			alert: "SundryAddsLatency", fires: 10*time.Minute + 5*time.Minute, resolves: 10 * time.Minute,
			stage: func(s *scene) act {
				wire := newRelay(s.t, redistest.Start(s.t).Addr)
				p := s.ownOn(wire.url())
				s.load(100*time.Millisecond, eachID(p))
				return provoked(s.requests(20), func() { wire.slow(entriesLate, 0) }, func() { wire.slow(nil, 0) })
			},
		},
		{
			alert: "SundryShedding", fires: 5*time.Minute + 5*time.Minute, resolves: 5 * time.Minute, takes: 5 * time.Second,
			also:  map[string]string{"SundryErrorBudgetSlowBurn": "a request that is shed is an error: one in a hundred is twice the objective"},
			stage: fewPlaces,
		},
		{
			alert: "SundryEndpointWithoutSource", fires: 15*time.Minute + 5*time.Minute, resolves: 0, takes: 3 * time.Second,
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launchWith(&process{onEnvironment: shortBreakers}, unwarmed, "--catalog", s.catalog("ttl: 1s, stale_if_error: 1h, pause: 50ms, pause_max: 100ms", o.source("up", "")))
				s.load(100*time.Millisecond, func(n int) string { return fmt.Sprintf("%s/api/own?id=%d", p.public, 1+n%3) })
				return provoked(s.requests(20), func() { o.failOneIn.Store(1) }, func() { o.failOneIn.Store(0) })
			},
		},
		{
			alert: "SundryAPIFails", fires: 10*time.Minute + 5*time.Minute, resolves: 10 * time.Minute,
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launch(unwarmed, "--to", o.URL)
				s.load(50*time.Millisecond, func(n int) string { return fmt.Sprintf("%s/some/path?id=%d", p.public, n) })
				return provoked(s.requests(50), func() { o.failOneIn.Store(5) }, func() { o.failOneIn.Store(0) })
			},
		},
		{
			alert: "SundryEndpointOnLastResort", fires: 15*time.Minute + 15*time.Minute, resolves: 15 * time.Minute,
			stage: func(s *scene) act { return s.firstOfTwoFails("last_resort: true, ") },
		},
		{
			alert: "SundryBreakerOpen", fires: 15*time.Minute + 15*time.Minute, resolves: 0, takes: 5 * time.Second,
			stage: func(s *scene) act { return s.firstOfTwoFails("") },
		},
		{
			alert: "SundryQuotaLow", fires: 15*time.Minute + 5*time.Minute, resolves: 15 * time.Minute, takes: 35 * time.Second,
			stage: usedUpQuota,
		},
		{
			alert: "SundryBreakerForced", pace: hours, fires: time.Hour, resolves: 0,
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
				s.load(time.Second, oneID(p))
				hold := func(do string) func() {
					return func() {
						if status := s.order(p, http.MethodPost, "upstreams/"+o.host(), `{"do":"`+do+`"}`); status != http.StatusOK {
							s.t.Errorf("the breaker is not held: %d", status)
						}
					}
				}
				return provoked(s.requests(2), hold("closed"), hold("auto"))
			},
		},
	}
}

// entriesLate delays replies, but for those to a scrape, which is to be over before the next one, a second of which is a
// minute here.
func entriesLate(reply []byte) time.Duration {
	if bytes.HasPrefix(reply, []byte(":")) || bytes.Contains(reply, []byte("used_memory")) || bytes.Contains(reply, []byte("evicted_keys")) {
		return 0
	}
	return 300 * time.Millisecond
}

// firstOfTwoFails has an endpoint with two sources of two hosts, the first of which fails.
func (s *scene) firstOfTwoFails(second string) act {
	o := newOrigin(s.t)
	p := s.launchWith(&process{onEnvironment: shortBreakers}, unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("first", ""), newOrigin(s.t).source("second", second)))
	s.load(50*time.Millisecond, eachID(p))
	return provoked(s.requests(20), func() { o.failOneIn.Store(1) }, func() { o.failOneIn.Store(0) })
}

// fewPlaces has a few requests at once find too few places to wait in. Most requests are hits.
func fewPlaces(s *scene) act {
	o := newOrigin(s.t)
	p := s.launch("cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s, in_flight: 4}\n", "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
	s.load(10*time.Millisecond, oneID(p))
	var on atomic.Bool
	for i := range 4 {
		s.load(time.Second, func(n int) string {
			if !on.Load() {
				return ""
			}
			return fmt.Sprintf("%s/api/own?id=%d", p.public, 10*n+i+2)
		})
	}
	return provoked(s.requests(300), func() { o.takes.Store(int64(500 * time.Millisecond)); on.Store(true) }, func() { on.Store(false) })
}

// usedUpQuota has a source whose service allows less than what is asked for. Another one answers the rest.
func usedUpQuota(s *scene) act {
	p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", newOrigin(s.t).source("first", "rate: 30/30s, "), newOrigin(s.t).source("second", "")))
	var on atomic.Bool
	s.load(100*time.Millisecond, func(n int) string {
		if on.Load() {
			return fmt.Sprintf("%s/api/own?id=%d", p.public, 1+n)
		}
		return p.public + "/api/own?id=1"
	})
	return provoked(nil, func() { on.Store(true) }, func() { on.Store(false) })
}
