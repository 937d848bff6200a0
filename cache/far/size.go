package far

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// sizeCollector asks Redis how full it is, at scrape and within the budget of
// one read. Both commands cost Redis the same however much it holds. While it
// cannot be asked, what it said last stands: 0 before the first word.
type sizeCollector struct {
	tier                *Tier
	keys, memory, limit reading
}

// reading is a gauge with its last value.
type reading struct {
	desc *prometheus.Desc
	bits atomic.Uint64
}

func (r *reading) set(v float64) { r.bits.Store(math.Float64bits(v)) }

func (r *reading) metric() prometheus.Metric {
	return prometheus.MustNewConstMetric(r.desc, prometheus.GaugeValue, math.Float64frombits(r.bits.Load()))
}

func newSizeCollector(t *Tier) *sizeCollector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("sundry_far_"+name, help, nil, nil)
	}
	return &sizeCollector{
		tier:   t,
		keys:   reading{desc: desc("keys", "Keys in the Redis database, those of others included, when it was last asked.")},
		memory: reading{desc: desc("memory_bytes", "Bytes that Redis has allocated, over all masters, when it was last asked.")},
		limit:  reading{desc: desc("memory_limit_bytes", "Bytes that Redis may allocate (maxmemory), over all masters; 0: as many as there are.")},
	}
}

// Describe implements prometheus.Collector.
func (c *sizeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, r := range []*reading{&c.keys, &c.memory, &c.limit} {
		ch <- r.desc
	}
}

// Collect implements prometheus.Collector.
func (c *sizeCollector) Collect(ch chan<- prometheus.Metric) {
	if c.tier.Healthy() {
		ctx, cancel := context.WithTimeout(context.Background(), c.tier.cfg.Timeout)
		defer cancel()
		if err := c.ask(ctx); err != nil {
			c.tier.log.Debug("size of redis not known", "error", err)
		}
	}
	for _, r := range []*reading{&c.keys, &c.memory, &c.limit} {
		ch <- r.metric()
	}
}

// ask reads anew what Redis lets us read: INFO may be forbidden. The breaker
// neither hears of it nor is asked twice.
func (c *sizeCollector) ask(ctx context.Context) error {
	keys, err := c.tier.client.DBSize(ctx).Result()
	if err != nil {
		return err
	}
	c.keys.set(float64(keys))
	var used, limit atomic.Int64
	add := func(ctx context.Context, server *redis.Client) error {
		info, err := server.Info(ctx, "memory").Result()
		used.Add(field(info, "used_memory"))
		limit.Add(field(info, "maxmemory"))
		return err
	}
	switch client := c.tier.client.(type) {
	case *redis.Client:
		err = add(ctx, client)
	case *redis.ClusterClient:
		err = client.ForEachMaster(ctx, add)
	default:
		err = errors.New("a kind of client that is not known here")
	}
	if err != nil {
		return err
	}
	c.memory.set(float64(used.Load()))
	c.limit.set(float64(limit.Load()))
	return nil
}

// field finds "name:value" among INFO's lines; 0 where it is not.
func field(info, name string) int64 {
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
