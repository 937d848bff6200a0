// Package far is the second cache tier, on Redis. It promises to be harmless:
// whatever Redis does (refuses, hangs, fills up, answers rubbish), a read comes
// back within its small budget as a miss, a write never blocks, and the tier is
// used again by itself once Redis is well.
package far

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
)

// Config of a Tier.
type Config struct {
	// URL: redis://, rediss:// or unix:// for one server,
	// redis+sentinel://[user:password@]host:port,host:port/master/db,
	// redis+cluster://[user:password@]host:port,host:port.
	URL string
	// Timeout is the budget of one read; 0 means 100 ms.
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
	client    redis.UniversalClient
	documents redis.UniversalClient // with the documents' time budget
	breaker   *gobreaker.CircuitBreaker[[]byte]
	queue     *queue
	seen      *metrics
	log       *slog.Logger
	workers   sync.WaitGroup
}

// workers write behind; two, so that one large value does not hold up all.
const workers = 2

// Open makes the tier. Only a URL that cannot be read is an error: a Redis that
// is not there may come.
func Open(cfg Config, reg prometheus.Registerer, log *slog.Logger) (*Tier, error) {
	cfg = cfg.withDefaults()
	opts, err := parseURL(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	quiet(log)
	t := &Tier{cfg: cfg, client: opts.client(callTimes(cfg.Timeout)), documents: opts.client(documentTimes()), queue: newQueue(cfg.Queue, cfg.QueueBytes), log: log}
	t.breaker = gobreaker.NewCircuitBreaker[[]byte](settings(cfg))
	t.seen = newMetrics(t)
	if reg != nil {
		if err := t.seen.register(reg); err != nil {
			return nil, fmt.Errorf("redis: metrics: %w", err)
		}
	}
	for range workers {
		t.workers.Go(t.write)
	}
	return t, nil
}

// settings of the breaker: five failures in a row, or half of at least ten
// within ten seconds.
func settings(cfg Config) gobreaker.Settings {
	return gobreaker.Settings{
		Name: "redis", MaxRequests: 1, Timeout: spread(cfg.OpenFor),
		Interval: 10 * time.Second, BucketPeriod: time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= 5 || c.Requests >= 10 && 2*c.TotalFailures >= c.Requests
		},
		IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
	}
}

// Look reads within the budget the value of a key, the record of a fill that
// failed, and whether its lease is held. What cannot be read is not there.
func (t *Tier) Look(ctx context.Context, key string) (value, failure []byte, leased bool) {
	if t == nil {
		return nil, nil, false
	}
	start := time.Now()
	var replies [3]*redis.StringCmd
	_, err := t.breaker.Execute(func() ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
		defer cancel()
		_, err := t.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, name := range []string{key, "failed:" + key, "lease:" + key} {
				replies[i] = p.Get(ctx, t.cfg.Prefix+name)
			}
			return nil
		})
		if errors.Is(err, redis.Nil) {
			return nil, nil // Redis is well, and does not have all
		}
		return nil, err
	})
	if err == nil {
		value, _ = replies[0].Bytes() // none where it fails
		failure, _ = replies[1].Bytes()
		leased = replies[2].Err() == nil
	}
	t.seen.read(value, err, time.Since(start))
	return value, failure, leased
}

// Set keeps a value, some time after it returned. A ttl below a millisecond
// keeps nothing.
func (t *Tier) Set(key string, value []byte, ttl time.Duration) {
	if t == nil || ttl < time.Millisecond {
		return
	}
	if !t.queue.push(job{key: t.cfg.Prefix + key, value: value, ttl: ttl, at: time.Now()}) {
		t.seen.dropped.Inc()
	}
}

// Add is Set where there is no value yet.
func (t *Tier) Add(key string, value []byte, ttl time.Duration) {
	t.Set(key, value, ttl)
}

// Fail keeps the record of a fill that failed, for ttl.
func (t *Tier) Fail(key string, record []byte, ttl time.Duration) {
	t.Set("failed:"+key, record, ttl)
}

// Delete removes a value, some time after it returned.
func (t *Tier) Delete(key string) {
	if t != nil && !t.queue.push(job{key: t.cfg.Prefix + key, at: time.Now()}) {
		t.seen.dropped.Inc()
	}
}

// Healthy tells whether the breaker lets calls through.
func (t *Tier) Healthy() bool { return t == nil || t.breaker.State() != gobreaker.StateOpen }

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

// releaseScript deletes a lease only if it is still ours.
const releaseScript = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`

// Lease asks for the fleet's right to fill a key for at most ttl. Without
// Redis it is granted: the right saves calls, it protects nothing. release is
// never nil, does not block, and may be called more than once.
func (t *Tier) Lease(ctx context.Context, key string, ttl time.Duration) (held bool, release func()) {
	if t == nil {
		return true, func() {}
	}
	name, token := t.cfg.Prefix+"lease:"+key, rand.Text()
	_, err := t.breaker.Execute(func() ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, t.cfg.Timeout)
		defer cancel()
		err := t.client.SetArgs(ctx, name, token, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
		held = err == nil
		if errors.Is(err, redis.Nil) {
			return nil, nil // somebody else has it
		}
		return nil, err
	})
	if err != nil {
		return true, func() {}
	}
	if !held {
		return false, func() {}
	}
	return true, sync.OnceFunc(func() { t.queue.push(job{key: name, token: token, at: time.Now()}) })
}
