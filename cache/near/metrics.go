package near

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/policy"
	"sundry/metrics"
)

// counters are those of a class, which are read at scrape.
type counters struct{ evicted, refused, spared atomic.Uint64 }

// Evicted returns how many values of a class were evicted for lack of memory.
func (m *Memory) Evicted(class policy.Class) uint64 { return m.counters[class].evicted.Load() }

// collector reads the tier at scrape.
type collector struct {
	near                                              *Memory
	entries, bytes, limit, evictions, refused, spared *prometheus.Desc
}

// Collector returns the metrics of the tier.
func (m *Memory) Collector() prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(metrics.Namespace+"_cache_memory_"+name, help, []string{"class"}, nil)
	}
	return &collector{
		near:      m,
		entries:   desc("entries", "Values in the near tier; a pool counts once per candidate. The hot table's are copies of others'."),
		bytes:     desc("capacity_bytes", "Bytes that the near tier has allocated."),
		limit:     desc("limit_bytes", "Bytes that the near tier may allocate before the oldest values are evicted."),
		evictions: desc("evictions_total", "Values evicted from the near tier for lack of memory."),
		refused:   desc("refused_total", "Values refused because they are too large for the near tier."),
		spared:    desc("spared_total", "Values spared from eviction because another endpoint has more than its share of the near tier."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for class := range policy.Classes {
		name, big := class.String(), c.near.class[class]
		ch <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(big.Len()), name)
		ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(big.Capacity()), name)
		ch <- prometheus.MustNewConstMetric(c.limit, prometheus.GaugeValue, float64(c.near.capacity[class].size), name)
		ch <- prometheus.MustNewConstMetric(c.evictions, prometheus.CounterValue, float64(c.near.Evicted(class)), name)
		ch <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(c.near.counters[class].refused.Load()), name)
		ch <- prometheus.MustNewConstMetric(c.spared, prometheus.CounterValue, float64(c.near.counters[class].spared.Load()), name)
	}
	const name = "hot"
	hot := c.near.hot
	ch <- prometheus.MustNewConstMetric(c.entries, prometheus.GaugeValue, float64(hot.table.EstimatedSize()), name)
	ch <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(hot.table.WeightedSize()), name)
	ch <- prometheus.MustNewConstMetric(c.limit, prometheus.GaugeValue, float64(hot.limit), name)
	ch <- prometheus.MustNewConstMetric(c.evictions, prometheus.CounterValue, float64(hot.evicted.Load()), name)
}
