// Package far is the second cache tier, on Redis. It promises to be harmless:
// whatever Redis does (refuses, hangs, fills up, answers rubbish), a read comes
// back within its small budget as a miss, a write never blocks, and the tier is
// used again by itself once Redis is well.
//
// Writes happen behind, those of one key in their order. Values get lost where
// there is no room, Redis is away or they waited for more than five seconds.
// Deletions do not, as long as the process lives and fewer than some thousands
// wait: they have room of their own and are tried until Redis took them. Reads
// and writes fail apart: a Redis that is full or read-only is still read.
package far

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Config of a Tier.
type Config struct {
	// URL: redis://[user:password@]host:port/db or unix:///path for one server,
	// redis+sentinel://[user:password@]host:port,host:port/master/db,
	// redis+cluster://[user:password@]host:port,host:port; with rediss in the
	// place of redis over TLS. Options may follow (?pool_size=64&read_timeout=50ms);
	// those that are not known are errors.
	URL string
	// Timeout is the budget of one read; 0 means what the URL says, else 100 ms.
	// A write's is five times as long, unless the URL says otherwise.
	Timeout time.Duration
	// Prefix of every key; "" means "sundry:".
	Prefix string
	// Queue bounds the writes that wait, in number; 0 means 1024.
	Queue int
	// QueueBytes bounds them in bytes; 0 means 64 MiB.
	QueueBytes int64
	// OpenFor is how long a sick Redis is left alone; 0 means 2 s.
	OpenFor time.Duration
}

func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = 100 * time.Millisecond
	}
	if c.Prefix == "" {
		c.Prefix = "sundry:"
	}
	if c.Queue == 0 {
		c.Queue = 1024
	}
	if c.QueueBytes == 0 {
		c.QueueBytes = 64 << 20
	}
	if c.OpenFor == 0 {
		c.OpenFor = 2 * time.Second
	}
	return c
}

// Tier is the far tier. A nil one is usable: it knows nothing and keeps
// nothing.
type Tier struct {
	cfg       Config
	cluster   bool
	writeTime time.Duration // a write's budget
	client    redis.UniversalClient
	documents redis.UniversalClient // with the documents' time budget
	reads     *guard
	writes    *guard
	queue     *queue
	seen      *metrics
	log       *slog.Logger
	workers   sync.WaitGroup
}

// Open makes the tier. Only a URL that cannot be read is an error: a Redis that
// is not there may come.
func Open(cfg Config, reg prometheus.Registerer, log *slog.Logger) (*Tier, error) {
	opts, err := parseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	cfg.Timeout = cmp.Or(cfg.Timeout, opts.readTime)
	cfg = cfg.withDefaults()
	times := opts.callTimes(cfg.Timeout)
	quiet(log)
	t := &Tier{
		cfg: cfg, cluster: opts.cluster, writeTime: times.write, client: opts.client(times), documents: opts.client(documentTimes()),
		reads: newGuard("reads", cfg.OpenFor), writes: newGuard("writes", cfg.OpenFor),
		queue: newQueue(cfg.Queue, cfg.QueueBytes), log: log,
	}
	t.seen = newMetrics(t)
	if reg != nil {
		if err := t.seen.register(reg); err != nil {
			return nil, fmt.Errorf("redis: metrics: %w", err)
		}
	}
	for i := range t.queue.lanes {
		w := &writer{tier: t, lane: &t.queue.lanes[i]}
		t.workers.Go(w.run)
	}
	return t, nil
}

// Healthy tells whether reads are let through to Redis.
func (t *Tier) Healthy() bool { return t == nil || !t.reads.shut() }

// Close writes what waits, as long as ctx lasts, and ends.
func (t *Tier) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.queue.close()
	done := make(chan struct{})
	go func() { t.workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		t.queue.discard()
		<-done // each write has its own short deadline
	}
	return errors.Join(t.client.Close(), t.documents.Close())
}
