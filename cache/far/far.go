// Package far is the far cache tier, on Redis. It promises to do no harm: whatever
// Redis does (refuses, hangs, runs out of memory, sends invalid replies), a read
// returns within its small budget as a miss, a write never blocks, and the tier is
// used again by itself once Redis has recovered.
//
// Writes happen in the background, all that wait in one pipeline, those of one key in
// order. An entry replaces no newer one, and a deletion deletes none: whatever was held up
// on its way, by whichever clock it is dated. Values are dropped, the oldest first, when
// the queue is full, and when they have waited for more than ten seconds. Deletions are
// not, as long as the process lives and no more than some thousands wait: they are counted
// apart and retried until they succeed. Reads and writes fail independently: a Redis that
// is out of memory or read-only is still read.
package far

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"sundry/metrics/panics"
)

// Config of a Tier.
type Config struct {
	// URL is redis://[user:password@]host:port/db or unix:///path for one server,
	// redis://host:port/db?master_name=main&addr=host:port for Sentinels, or
	// redis+cluster://[user:password@]host:port?addr=host:port, with rediss in
	// place of redis over TLS. Options may follow (?pool_size=64&read_timeout=50ms);
	// unknown ones are errors.
	URL string
	// Timeout is the budget of one read; 0 means what the URL says, else 100 ms.
	// A write's is five times as long, unless the URL says otherwise.
	Timeout time.Duration
	// Queue bounds the number of values that wait to be written; 0 means 32768.
	Queue int
	// QueueBytes bounds them in bytes; 0 means 64 MiB.
	QueueBytes int64
	// Dial connects to Redis without TLS; nil means by the network of the machine.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// OpenFor is how long the breakers stay open; 0 means 2 s.
	OpenFor time.Duration
	// Panics catches those of what goes on in the background.
	Panics *panics.Catcher
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 100*time.Millisecond)
	c.Queue = cmp.Or(c.Queue, 1<<15)
	c.QueueBytes = cmp.Or(c.QueueBytes, 64<<20)
	c.OpenFor = cmp.Or(c.OpenFor, 2*time.Second)
	return c
}

// keyPrefix is that of every key.
const keyPrefix = "sundry:"

// spread is the share by which pauses and retries vary, so that the instances of
// a fleet do not probe Redis at the same instant.
const spread = 0.2

// Tier is the far tier. Close does nothing to a nil one.
type Tier struct {
	cfg          Config
	cluster      bool
	database     int
	password     string
	writeTime    time.Duration // a write's budget
	client       redis.UniversalClient
	sharedValues redis.UniversalClient // with the shared values' time budget
	// subscriptions are those to announcements and to notices of changed values.
	subscriptions subscriptions
	looks         looks
	// leaseScriptKnown: Redis has had the whole of leaseScript.
	leaseScriptKnown atomic.Bool
	leaseRefusals    refusals // of that script
	reads            *breaker
	writes           *breaker
	queue            *queue
	clock            clock
	metrics          *tierMetrics
	log              *slog.Logger
	workers          sync.WaitGroup
	lives            context.Context //nolint:containedctx // of the workers: when it ends, what waits is dropped
	end              context.CancelFunc
}

// Open makes the tier. Only an invalid URL is an error: Redis may be started
// later.
func Open(cfg Config, reg prometheus.Registerer, log *slog.Logger) (*Tier, error) {
	opts, err := parseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, opts.universal.ReadTimeout)
	cfg = cfg.withDefaults()
	opts.dial = cfg.Dial
	times := opts.callTimes(cfg.Timeout)
	redirectLog(log)
	t := &Tier{
		cfg: cfg, cluster: opts.cluster, database: opts.universal.DB, password: opts.universal.Password, writeTime: times.write, client: opts.client(times), sharedValues: opts.client(sharedValueTimes()),
		reads: newBreaker("reads", cfg.OpenFor), writes: newBreaker("writes", cfg.OpenFor),
		queue: newQueue(cfg.Queue, cfg.QueueBytes), leaseRefusals: refusals{longest: cfg.OpenFor}, log: log,
	}
	t.lives, t.end = context.WithCancel(context.Background())
	t.metrics = newMetrics(t, reg)
	for i := range t.queue.shards {
		w := &writer{tier: t, shard: &t.queue.shards[i]}
		t.workers.Go(cfg.Panics.Loop(t.lives, panics.FarWrite, func(context.Context) { w.run() }))
	}
	return t, nil
}

// Password returns the password of this service at Redis, which nothing in Redis tells; "" if it has none.
func (t *Tier) Password() string { return t.password }

// Close writes what waits until ctx ends, and drops the rest.
func (t *Tier) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	defer t.end()
	t.queue.close()
	done := make(chan struct{})
	t.cfg.Panics.Go(panics.FarWrite, func() { t.workers.Wait(); close(done) })
	select {
	case <-done:
	case <-ctx.Done():
		t.queue.discard()
		t.end()
		<-done // each write has its own short deadline
	}
	return errors.Join(t.client.Close(), t.sharedValues.Close())
}
