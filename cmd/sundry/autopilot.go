package main

import (
	"time"

	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/proxy/autopilot"
	"sundry/upstreams/catalog"
)

// rules are those in force.
func (s *server) rules() (all []advise.InForce) {
	for _, e := range s.front.Catalog().Endpoints {
		if e.Policy.Stores() {
			all = append(all, advise.InForce{Space: e.Name, Policy: &e.Policy, Target: e.Target, Version: e.Version()})
		}
	}
	return all
}

// advise advises on the TTL of an endpoint.
func (s *server) advise(e *catalog.Endpoint, ttls []time.Duration, target advise.Target) advise.Report {
	if r, ok := s.observer.Report(e.Name, ttls, target); ok {
		return r
	}
	return advise.Report{
		Advice:  advise.Advice{Target: e.Target, Reason: words.Say("answers are not cached, so there is nothing to advise", "响应不缓存，没有可以建议的")},
		Present: e.Policy.TTL,
	}
}

// piloted are the endpoints whose TTL the autopilot may change.
func (s *server) piloted() (all []autopilot.Endpoint) {
	for _, e := range s.front.Catalog().Endpoints {
		if e.Autopilot != nil {
			all = append(all, autopilot.Endpoint{Name: e.Name, TTL: e.Policy.TTL, Min: e.Autopilot.Min, Max: e.Autopilot.Max})
		}
	}
	return all
}
