package far

import (
	"context"
	"errors"
	"math"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/redis/go-redis/v9"

	"sundry/cache/entry"
	"sundry/metrics"
)

type tierMetrics struct {
	reads, writes *prometheus.CounterVec
	announcements *prometheus.CounterVec
	listening     prometheus.Gauge
	duration      prometheus.Histogram
	dropped       prometheus.Counter
}

// newMetrics registers all; reg may be nil.
func newMetrics(t *Tier, reg prometheus.Registerer) *tierMetrics {
	register := promauto.With(reg)
	const namespace, subsystem = metrics.Namespace, "far"
	counter := func(name, help string, results ...string) *prometheus.CounterVec {
		c := register.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Subsystem: subsystem, Name: name, Help: help}, []string{"result"})
		for _, r := range results {
			c.WithLabelValues(r)
		}
		return c
	}
	m := &tierMetrics{
		reads: counter("reads_total", "Reads from Redis, by result; broken: what is there is damaged, or of another version, which is a miss; refused: it replied with an error; rejected: not sent, because the breaker was open or calls were paused after errors; canceled: no client waited any longer.",
			"hit", "miss", "broken", "timeout", "refused", "error", "rejected", "canceled"),
		writes: counter("writes_total", "Tries to write to Redis, by result; refused: it replied with an error; rejected: not sent; dropped: given up, because the queue was full, or the write too old.",
			"stored", "refused", "error", "rejected", "dropped"),
		announcements: counter("announcements_total", "Announcements between instances, by result; received: including this instance's own; invalid: received, and not one of ours.",
			"sent", "failed", "received", "invalid"),
		listening: register.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "listening",
			Help: "1 while this instance receives the announcements of the others."}),
		duration: register.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Subsystem: subsystem, Name: "read_duration_seconds",
			Help: "Duration of reads from Redis.", Buckets: []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25}}),
	}
	register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "queue_entries",
		Help: "Queued writes of entries."}, func() float64 { all, _ := t.queue.waiting(); return float64(all) })
	register.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Subsystem: subsystem, Name: "queue_deletes",
		Help: "Queued deletions, marks of what APIs' callers have purged, and releases of leases, including those that failed and are retried."},
		func() float64 { _, deletions := t.queue.waiting(); return float64(deletions) })
	register.NewGaugeFunc(breakerOpen("read", t.reads))
	register.NewGaugeFunc(breakerOpen("write", t.writes))
	if reg != nil {
		reg.MustRegister(newSizeCollector(t))
	}
	m.dropped = m.writes.WithLabelValues("dropped")
	return m
}

// breakerOpen is the gauge of one kind of calls.
func breakerOpen(operation string, b *breaker) (opts prometheus.GaugeOpts, value func() float64) {
	return prometheus.GaugeOpts{Namespace: metrics.Namespace, Subsystem: "far", Name: "breaker_open",
			ConstLabels: prometheus.Labels{"operation": operation},
			Help:        "1 while no reads or writes are sent to Redis: the breaker is open, or calls are paused after errors that Redis replied."}, func() float64 {
			if b.blocked() {
				return 1
			}
			return 0
		}
}

func (m *tierMetrics) read(found *entry.Found, err error, took time.Duration) {
	result := "hit"
	switch {
	case err != nil:
		result = resultOf(err)
	case found.Value != nil:
	case found.Broken:
		result = "broken"
	default:
		result = "miss"
	}
	m.reads.WithLabelValues(result).Inc()
	if result != "rejected" {
		m.duration.Observe(took.Seconds())
	}
}

func (m *tierMetrics) wrote(err error) {
	result := "stored"
	if err != nil {
		result = resultOf(err)
	}
	if result == "timeout" {
		result = "error"
	}
	m.writes.WithLabelValues(result).Inc()
}

// announced counts an announcement.
func (m *tierMetrics) announced(result string) { m.announcements.WithLabelValues(result).Inc() }

// resultOf is the label value for an error.
func resultOf(err error) string {
	var network net.Error
	switch {
	case rejected(err):
		return "rejected"
	case isReply(err):
		return "refused"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	}
	return "error"
}

// sizeCollector asks Redis for its size at scrape, within the budget of one read.
// All commands are of constant cost. While Redis cannot be reached the metrics keep
// their last values, at first 0.
type sizeCollector struct {
	tier                                   *Tier
	keys, memory, limit, evicting, evicted reading
}

// reading is a metric with its last value.
type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	bits atomic.Uint64
}

func (r *reading) set(v float64) { r.bits.Store(math.Float64bits(v)) }

func (r *reading) metric() prometheus.Metric {
	return prometheus.MustNewConstMetric(r.desc, r.kind, math.Float64frombits(r.bits.Load()))
}

func newSizeCollector(t *Tier) *sizeCollector {
	read := func(kind prometheus.ValueType, name, help string) reading {
		return reading{desc: prometheus.NewDesc(metrics.Namespace+"_far_"+name, help, nil, nil), kind: kind}
	}
	return &sizeCollector{
		tier:     t,
		keys:     read(prometheus.GaugeValue, "keys", "Keys in the Redis database, including those of other programs, when last asked."),
		memory:   read(prometheus.GaugeValue, "memory_bytes", "Bytes that Redis has allocated, over all masters, when last asked."),
		limit:    read(prometheus.GaugeValue, "memory_limit_bytes", "Bytes that Redis may allocate (maxmemory), over all masters; 0: no limit."),
		evicting: read(prometheus.GaugeValue, "eviction_enabled", "1 if Redis evicts keys once it may allocate no more (maxmemory-policy); 0: it refuses writes then."),
		evicted:  read(prometheus.CounterValue, "evictions_total", "Keys that Redis has evicted for lack of memory, over all masters, when last asked."),
	}
}

func (c *sizeCollector) readings() []*reading {
	return []*reading{&c.keys, &c.memory, &c.limit, &c.evicting, &c.evicted}
}

// Describe implements prometheus.Collector.
func (c *sizeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, r := range c.readings() {
		ch <- r.desc
	}
}

// Collect implements prometheus.Collector.
func (c *sizeCollector) Collect(ch chan<- prometheus.Metric) {
	if !c.tier.reads.blocked() {
		ctx, cancel := context.WithTimeout(context.Background(), c.tier.cfg.Timeout)
		defer cancel()
		if err := c.ask(ctx); err != nil {
			c.tier.log.Debug("size of redis not read", "error", err)
		}
	}
	for _, r := range c.readings() {
		ch <- r.metric()
	}
}

// ask updates what Redis lets us read: INFO may be forbidden. It does not go
// through the breaker.
func (c *sizeCollector) ask(ctx context.Context) error {
	keys, err := c.tier.client.DBSize(ctx).Result()
	if err != nil {
		return err
	}
	c.keys.set(float64(keys))
	var used, limit, evicting, evicted atomic.Int64
	add := func(ctx context.Context, server *redis.Client) error {
		p := server.Pipeline()
		memory, stats := p.Info(ctx, "memory"), p.Info(ctx, "stats")
		_, err := p.Exec(ctx)
		used.Add(field(memory.Val(), "used_memory"))
		limit.Add(field(memory.Val(), "maxmemory"))
		if policy := textField(memory.Val(), "maxmemory_policy"); policy != "" && policy != "noeviction" {
			evicting.Store(1)
		}
		evicted.Add(field(stats.Val(), "evicted_keys"))
		return err
	}
	switch client := c.tier.client.(type) {
	case *redis.Client:
		err = add(ctx, client)
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, add)
	default:
		err = errors.New("unknown type of client")
	}
	if err != nil {
		return err
	}
	c.memory.set(float64(used.Load()))
	c.limit.set(float64(limit.Load()))
	c.evicting.set(float64(evicting.Load()))
	c.evicted.set(float64(evicted.Load()))
	return nil
}

// field finds the number in "name:value" among INFO's lines; 0 where it is not.
func field(info, name string) int64 {
	n, err := strconv.ParseInt(textField(info, name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// textField finds "name:value" among INFO's lines; "" where it is not.
func textField(info, name string) string {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
