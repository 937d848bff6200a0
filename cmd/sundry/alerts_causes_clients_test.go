//go:build linux

package main

import (
	"fmt"
	"sync/atomic"
	"time"
)

// spendsSlowly is why the slow burn follows a fast one.
const spendsSlowly = "both measure the same objective, and the long windows still hold these errors"

// causesOfClients are those of the alerts about what clients notice.
func causesOfClients() []*cause {
	return []*cause{
		{
			alert: "SundryErrorBudgetBurn", fires: 5*time.Minute + 2*time.Minute, resolves: 30 * time.Minute, takes: 5 * time.Second,
			also: map[string]string{"SundryErrorBudgetSlowBurn": spendsSlowly},
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
				s.load(50*time.Millisecond, eachID(p))
				return provoked(s.requests(100), func() { o.failOneIn.Store(5) }, func() { o.failOneIn.Store(0) })
			},
		},
		{
			// One in 125 is more than the objective of 0.5 %, and less than the 1.5 % and 3 % of the faster burns.
			alert: "SundryErrorBudgetSlowBurn", fires: 15 * time.Minute, resolves: 2 * time.Hour, takes: 15 * time.Second,
			stage: func(s *scene) act {
				o := newOrigin(s.t)
				p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
				s.load(20*time.Millisecond, eachID(p))
				return provoked(s.requests(100), func() { o.failOneIn.Store(125) }, func() { o.failOneIn.Store(0) })
			},
		},
		{
			alert: "SundrySlow", fires: 10*time.Minute + 5*time.Minute, resolves: 10 * time.Minute, takes: 5 * time.Second,
			stage: becomesSlow,
		},
		{
			alert: "SundryLimitsClients", fires: 10*time.Minute + 5*time.Minute, resolves: 10 * time.Minute,
			stage: func(s *scene) act {
				p := s.launch("cache: {warm: false}\nlimits: {rate: 5, burst: 10, queue_delay: 0s}\n", "--catalog", s.catalog("ttl: 1h", newOrigin(s.t).source("up", "")))
				var fast atomic.Bool
				s.load(25*time.Millisecond, func(n int) string {
					if n%10 > 0 && !fast.Load() {
						return ""
					}
					return p.public + "/api/own?id=1"
				})
				return provoked(s.requests(20), func() { fast.Store(true) }, func() { fast.Store(false) })
			},
		},
		{
			alert: "SundryTrafficLost", fires: 5*time.Minute + 5*time.Minute, resolves: 5 * time.Minute,
			stage: func(s *scene) act {
				p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", newOrigin(s.t).source("up", "")))
				stop := s.load(50*time.Millisecond, oneID(p))
				flows := func() bool {
					n, ok := s.watch.number(fmt.Sprintf(`sum(rate(sundry_requests_total{job=%q}[1m] offset 10s))`, s.job))
					return ok && n > 3
				}
				return provoked(flows, func() { stop() }, func() { s.load(50*time.Millisecond, oneID(p)) })
			},
		},
	}
}

// becomesSlow has a third of the requests wait for an API that answers after a second and a half. On the last day it was
// fast: the many requests before are hits.
func becomesSlow(s *scene) act {
	o := newOrigin(s.t)
	p := s.launch(unwarmed, "--catalog", s.catalog("ttl: 1h", o.source("up", "")))
	var slow atomic.Bool
	s.load(5*time.Millisecond, func(n int) string {
		if slow.Load() && n%10 > 0 {
			return ""
		}
		return p.public + "/api/own?id=1"
	})
	s.load(80*time.Millisecond, func(n int) string {
		if !slow.Load() {
			return ""
		}
		return fmt.Sprintf("%s/api/own?id=%d", p.public, 10+n)
	})
	begin := func() { o.takes.Store(int64(1500 * time.Millisecond)); slow.Store(true) }
	return provoked(s.requests(5000), begin, func() { o.takes.Store(0) })
}
