package express

import (
	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
)

type laneMetrics struct {
	answered, passed prometheus.Counter
	surrendered      prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*laneMetrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "express_requests_total",
		Help: "Requests that the express lane read, by result: answered, or passed to net/http."}, []string{"result"})
	surrendered := prometheus.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "express_surrendered_connections_total",
		Help: "Connections that the express lane left to net/http for good, because of a request with a body or anything else that is not plain."})
	m := &laneMetrics{answered: requests.WithLabelValues("answered"), passed: requests.WithLabelValues("passed"), surrendered: surrendered}
	if reg == nil {
		return m, nil
	}
	if err := reg.Register(requests); err != nil {
		return nil, err
	}
	return m, reg.Register(surrendered)
}
