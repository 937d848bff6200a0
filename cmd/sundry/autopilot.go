package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"sundry/proxy/autopilot"
	"sundry/proxy/live"
	"sundry/upstreams/catalog"
)

// newAutopilot makes the autopilot, for the endpoints that the catalog in force has it on.
func (s *server) newAutopilot(reg prometheus.Registerer) (*autopilot.Pilot, error) {
	return autopilot.New(autopilot.Config{Rules: s.piloted, Replicator: s.replicator, Registerer: reg, Log: s.log})
}

// piloted are the rules that the autopilot may change.
func (s *server) piloted() []autopilot.Rule {
	var all []autopilot.Rule
	for _, e := range s.front.Catalog().Endpoints {
		if e.Autopilot != nil {
			all = append(all, s.pilotedRule(e))
		}
	}
	return all
}

func (s *server) pilotedRule(e *catalog.Endpoint) autopilot.Rule {
	advice := s.advise(e)
	return autopilot.Rule{Endpoint: e.Name, Policy: &e.Policy, Min: e.Autopilot.Min, Max: e.Autopilot.Max, Advice: &advice}
}

// pilotStatus is what the autopilot does about an endpoint that it is on for.
func (s *server) pilotStatus(e *catalog.Endpoint) (autopilot.Decision, *live.Trial) {
	return s.autopilot.Status(s.pilotedRule(e))
}
