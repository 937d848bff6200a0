// Package metrics makes the registry for the collectors of all packages, whose
// metrics have its Namespace. It promises that a scrape also holds those of the Go
// runtime, the process and the build. It imports no package of ours.
package metrics

import (
	"net/http"
	"regexp"
	"runtime"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Namespace is the first part of every metric name.
const Namespace = "sundry"

// liveHeap is what the last garbage collection has found in use: what is left of the memory limit can be told by nothing else.
var liveHeap = regexp.MustCompile("^/gc/heap/live:bytes$")

// New makes a registry. version is what `sundry version` prints.
func New(version string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: Namespace, Name: "build_info", Help: "1, with the version of the program and of Go as labels.",
	}, []string{"version", "goversion"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	live := collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap})
	reg.MustRegister(build, collectors.NewGoCollector(live), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// Handler serves what the registry gathers, with the values of labels as clean returns them.
func Handler(reg *prometheus.Registry, clean func(value string) string) http.Handler {
	gather := func() ([]*dto.MetricFamily, error) {
		families, err := reg.Gather()
		for _, f := range families {
			for _, m := range f.GetMetric() {
				cleanLabels(m, clean)
			}
		}
		return families, err
	}
	return promhttp.HandlerFor(prometheus.GathererFunc(gather), promhttp.HandlerOpts{Registry: reg, EnableOpenMetrics: true})
}

// cleanLabels changes the labels of a sample, which shares them with its metric.
func cleanLabels(m *dto.Metric, clean func(value string) string) {
	shared := m.GetLabel()
	for i, l := range shared {
		value := clean(l.GetValue())
		if value == l.GetValue() {
			continue
		}
		if &m.Label[0] == &shared[0] {
			m.Label = slices.Clone(shared)
		}
		m.Label[i] = &dto.LabelPair{Name: l.Name, Value: &value}
	}
}

// Reload are the gauges of a configuration that can be loaded again.
type Reload struct {
	Success prometheus.Gauge
	Time    prometheus.Gauge
}

// NewReload registers them.
func NewReload(reg prometheus.Registerer) *Reload {
	r := &Reload{
		Success: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: Namespace, Name: "config_last_reload_successful",
			Help: "1 if the last load of configuration and catalog succeeded, 0 if it failed and the previous ones stay in force."}),
		Time: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: Namespace, Name: "config_last_reload_success_timestamp_seconds",
			Help: "Unix time of the last successful load of configuration and catalog."}),
	}
	reg.MustRegister(r.Success, r.Time)
	return r
}
