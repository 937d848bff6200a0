package live

import "github.com/prometheus/client_golang/prometheus"

// tunerMetrics tell how far this instance is with the settings of its fleet.
type tunerMetrics struct {
	sequence prometheus.Gauge
	inStep   prometheus.Gauge
	failures prometheus.Counter
	restores prometheus.Counter
	pending  prometheus.Gauge
}

func newTunerMetrics() *tunerMetrics {
	opts := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "sundry", Subsystem: "settings", Name: name, Help: help}
	}
	return &tunerMetrics{
		sequence: prometheus.NewGauge(prometheus.GaugeOpts(opts("sequence", "Number of the last change by an operator that this instance took over; lower than another's while it lags behind."))),
		inStep:   prometheus.NewGauge(prometheus.GaugeOpts(opts("in_step_timestamp_seconds", "When this instance last saw that what is stored is in force here, in unix seconds; 0: not since the start."))),
		failures: prometheus.NewCounter(prometheus.CounterOpts(opts("failures_total", "Looks at the stored settings that failed, or whose outcome could not be applied."))),
		restores: prometheus.NewCounter(prometheus.CounterOpts(opts("restores_total", "Times this instance stored the settings anew because the store had lost them or gone back in time."))),
		pending:  prometheus.NewGauge(prometheus.GaugeOpts(opts("pending", "Changes by operators that are in force on this instance alone, and wait for the store to be shared."))),
	}
}

func (m *tunerMetrics) register(reg prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.sequence, m.inStep, m.failures, m.restores, m.pending} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}
