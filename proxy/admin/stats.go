package admin

import (
	dto "github.com/prometheus/client_model/go"

	"sundry/metrics"
)

// endpointStats are read from this instance's metrics, and count from its start.
type endpointStats struct {
	Requests float64 `json:"requests"`
	Hits     float64 `json:"hits"`
	Misses   float64 `json:"misses"`
	Stale    float64 `json:"stale"`
	Errors   float64 `json:"errors"`
	// Changed and Same count refreshes, by whether the answer differed from the one
	// before.
	Changed float64 `json:"refreshes_changed"`
	Same    float64 `json:"refreshes_same"`
	// HitRatio is the share of answers from the cache; null without any answers.
	HitRatio *float64 `json:"hit_ratio"`
	// ChangeRatio is the share of refreshes with a new answer; null without any
	// refreshes.
	ChangeRatio *float64 `json:"change_ratio"`
}

func (s *endpointStats) setRatios() {
	s.HitRatio = ratio(s.Hits+s.Stale, s.Hits+s.Stale+s.Misses)
	s.ChangeRatio = ratio(s.Changed, s.Changed+s.Same)
}

func ratio(part, whole float64) *float64 {
	if whole == 0 {
		return nil
	}
	v := part / whole
	return &v
}

// stats reads the metrics, by endpoint.
func (a *api) stats() map[string]*endpointStats {
	out := map[string]*endpointStats{}
	families, err := a.Metrics.Gather()
	if err != nil {
		a.Log.Warn("gather metrics", "error", err) // what was gathered is shown
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := labelsOf(m)
			name := labels["endpoint"]
			if name == "" {
				continue
			}
			if out[name] == nil {
				out[name] = &endpointStats{}
			}
			out[name].add(f.GetName(), labels, m.GetCounter().GetValue())
		}
	}
	return out
}

func labelsOf(m *dto.Metric) map[string]string {
	labels := map[string]string{}
	for _, l := range m.GetLabel() {
		labels[l.GetName()] = l.GetValue()
	}
	return labels
}

// add adds the value of a counter to the statistics that it belongs to.
func (s *endpointStats) add(family string, labels map[string]string, v float64) {
	switch family {
	case metrics.Namespace + "_requests_total":
		s.Requests += v
		switch labels["outcome"] {
		case "hit", "not_modified":
			s.Hits += v
		case "stale", "stale_error":
			s.Stale += v
		case "miss", "coalesced":
			s.Misses += v
		case "error":
			s.Errors += v
		}
	case metrics.Namespace + "_cache_refreshes_total":
		switch labels["result"] {
		case "changed":
			s.Changed += v
		case "unchanged":
			s.Same += v
		}
	}
}

// totals are the sums over all endpoints.
func (a *api) totals() *endpointStats {
	all := &endpointStats{}
	for _, s := range a.stats() {
		all.Requests += s.Requests
		all.Hits += s.Hits
		all.Misses += s.Misses
		all.Stale += s.Stale
		all.Errors += s.Errors
		all.Changed += s.Changed
		all.Same += s.Same
	}
	all.setRatios()
	return all
}
