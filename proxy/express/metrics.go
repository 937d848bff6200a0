package express

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/metrics"
)

type laneMetrics struct {
	answered, passed prometheus.Counter
	surrendered      prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *laneMetrics {
	register := promauto.With(reg)
	requests := register.NewCounterVec(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "express_requests_total",
		Help: "Requests that the express lane read, by result: answered, or passed to net/http."}, []string{"result"})
	surrendered := register.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "express_surrendered_connections_total",
		Help: "Connections that the express lane left to net/http for good, because of a request with a body or anything else that is not plain."})
	return &laneMetrics{answered: requests.WithLabelValues("answered"), passed: requests.WithLabelValues("passed"), surrendered: surrendered}
}
