package far

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	reads, writes   *prometheus.CounterVec
	duration        prometheus.Histogram
	dropped         prometheus.Counter
	queued, orders  prometheus.GaugeFunc
	shutIn, shutOut prometheus.GaugeFunc
	size            *sizeCollector
}

func newMetrics(t *Tier) *metrics {
	const namespace, subsystem = "sundry", "far"
	m := &metrics{
		size: newSizeCollector(t),
		reads: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "reads_total",
			Help: "Reads from Redis, by how they went; refused: it replied an error; rejected: it was left alone; canceled: nobody waited any more."},
			[]string{"result"}),
		writes: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: "writes_total",
			Help: "Writes behind to Redis, by how they went; refused: it replied an error; dropped: the queue was full, or the write too old."},
			[]string{"result"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: "read_duration_seconds",
			Help: "Time of reads from Redis.", Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25}}),
		queued: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "queue_entries",
			Help: "Writes that wait."}, func() float64 { all, _ := t.queue.waiting(); return float64(all) }),
		orders: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "queue_deletes",
			Help: "Writes that wait and must arrive: deletions, and releases of leases, those that failed and are tried again included."},
			func() float64 { _, orders := t.queue.waiting(); return float64(orders) }),
	}
	m.shutIn, m.shutOut = breakerOpen("read", t.reads), breakerOpen("write", t.writes)
	for _, r := range []string{"hit", "miss", "timeout", "refused", "error", "rejected", "canceled"} {
		m.reads.WithLabelValues(r)
	}
	for _, r := range []string{"stored", "refused", "error", "rejected"} {
		m.writes.WithLabelValues(r)
	}
	m.dropped = m.writes.WithLabelValues("dropped")
	return m
}

// breakerOpen is the gauge of one kind of calls.
func breakerOpen(operation string, g *guard) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "sundry", Subsystem: "far", Name: "breaker_open",
		ConstLabels: prometheus.Labels{"operation": operation},
		Help:        "1 while Redis is left alone with reads or writes because they failed."}, func() float64 {
		if g.shut() {
			return 1
		}
		return 0
	})
}

func (m *metrics) register(reg prometheus.Registerer) error {
	for _, c := range []prometheus.Collector{m.reads, m.writes, m.duration, m.queued, m.orders, m.shutIn, m.shutOut, m.size} {
		if err := reg.Register(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *metrics) read(value []byte, err error, took time.Duration) {
	result := "hit"
	switch {
	case err != nil:
		result = failure(err)
	case value == nil:
		result = "miss"
	}
	m.reads.WithLabelValues(result).Inc()
	if result != "rejected" {
		m.duration.Observe(took.Seconds())
	}
}

func (m *metrics) wrote(err error) {
	result := "stored"
	if err != nil {
		result = failure(err)
	}
	if result == "timeout" {
		result = "error"
	}
	m.writes.WithLabelValues(result).Inc()
}

// failure names an error for a label.
func failure(err error) string {
	var network net.Error
	switch {
	case unsent(err):
		return "rejected"
	case replied(err):
		return "refused"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "error"
}
