package main

import (
	"time"

	"sundry/cache/advisor"
	"sundry/upstreams/catalog"
	"sundry/upstreams/chinatime"
)

// newAdvisor makes the advisor, which names times as the catalog's timetables do.
func newAdvisor() *advisor.Advisor {
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		zone = chinatime.Zone() // not reached: the time zones are linked in
	}
	return advisor.New(advisor.Config{Zone: zone})
}

// questions are those about the rules in force, for metrics.
func (s *server) questions() []advisor.Question {
	var all []advisor.Question
	for _, e := range s.front.Catalog().Endpoints {
		if e.Policy.Stores() {
			all = append(all, questionAbout(e))
		}
	}
	return all
}

func (s *server) advise(e *catalog.Endpoint) advisor.Advice {
	q := questionAbout(e)
	return s.advisor.Advise(&q)
}

func questionAbout(e *catalog.Endpoint) advisor.Question {
	return advisor.Question{Space: e.Name, Policy: &e.Policy, Version: e.Version(), Quota: quotaOf(e), Now: time.Now()}
}

// quotaOf is the calls per hour that the source allows which is asked first; 0: none is
// declared.
func quotaOf(e *catalog.Endpoint) float64 {
	for _, c := range e.Chains {
		for _, s := range c.Declared() {
			switch {
			case s.Missing != "":
			case s.Quota == nil:
				return 0
			default:
				return s.Quota.PerHour()
			}
		}
	}
	return 0
}
