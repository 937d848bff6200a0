package cache

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/jitter"
)

const (
	// snapshotInterval is how often a snapshot is written while the instance runs,
	// longer or shorter by up to snapshotJitter of it, if anything was stored meanwhile.
	snapshotInterval = 5 * time.Minute
	snapshotJitter   = 0.2
	// snapshotWriteTime bounds such a write.
	snapshotWriteTime = 2 * time.Minute
	// snapshotPause is the rest after each snapshotStretch bytes that such a write looks at or writes: it may
	// take long, and requests need disk and processor more. On one core hits wait for a
	// stretch: a MiB of small entries takes 5 to 10 ms.
	snapshotPause   = 1250 * time.Microsecond
	snapshotStretch = 64 << 10
	// snapshotAfterPurge is how soon after a purge, which removes the file, the next
	// one is written.
	snapshotAfterPurge = 5 * time.Second
	// snapshotTries bounds how often a write begins anew because of a purge meanwhile.
	snapshotTries = 3
)

// SnapshotConfig of a Snapshot.
type SnapshotConfig struct {
	// File is replaced as a whole by each write. Its directory must be writable.
	File string
	// Keeps reports whether the entry of a key may be in the file: it decides when the
	// file is written and again when it is read. It must be safe for concurrent use.
	Keeps func(key string) bool
	// DropsKnownSince returns the time from which on it is known, when the file is read, which
	// keys were purged one by one while nobody ran. Entries that were created before it are not
	// read. nil, and zero: all is known.
	DropsKnownSince func() time.Time
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Log takes what was written and read; nil for none.
	Log *slog.Logger
}

// Snapshot keeps in a file what the near tier holds, so that an instance that is started
// again knows it. What it promises:
//
//   - The file is replaced as a whole, and only this program's user can read it. A file
//     that is not a snapshot is never replaced.
//   - Each entry is checked when it is read, as those from Redis are, and its freshness is
//     decided anew. What the policies and purges in force call gone is not read, and nothing
//     replaces what was stored meanwhile.
//   - What was purged does not come back: a purge removes the file, and the next one does
//     not hold what was purged.
//   - Failures are not kept, nor what Redis holds.
//
// Call Read once, then Run. Nothing is written before the file has been read to its end:
// a start that is broken off leaves it as it is. All methods are safe for concurrent use.
type Snapshot struct {
	cache   *Cache
	file    string
	keeps   func(string) bool
	known   func() time.Time
	log     *slog.Logger
	metrics *snapshotMetrics
	limit   int64 // bytes of the file

	writing sync.Mutex // one write at a time
	// storedBefore is how many values the near tier had stored when the last write
	// began.
	storedBefore atomic.Uint64

	reading atomic.Bool // Read was called
	read    atomic.Bool // and has reached the end of the file
	purged  chan struct{}

	mu     sync.Mutex // held while the file is replaced or removed
	purges uint64     // purges so far
}

// Snapshot keeps the near tier in a file. Call it at most once, before the cache is used.
// It does not touch the file.
func (c *Cache) Snapshot(cfg SnapshotConfig) *Snapshot {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.DropsKnownSince == nil {
		cfg.DropsKnownSince = func() time.Time { return time.Time{} }
	}
	s := &Snapshot{
		cache: c, file: cfg.File, keeps: cfg.Keeps, known: cfg.DropsKnownSince, log: cfg.Log, metrics: newSnapshotMetrics(cfg.Registerer), limit: c.near.limit,
		purged: make(chan struct{}, 1),
	}
	c.snapshot = s
	return s
}

// Run writes now and then, and soon after a purge, until ctx ends. However many purges
// there are, they do not put off a write that was due before.
func (s *Snapshot) Run(ctx context.Context) {
	due := nextSnapshot()
	next := time.NewTimer(time.Until(due))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.purged:
			next.Reset(min(snapshotAfterPurge, time.Until(due)))
			continue
		case <-next.C:
		}
		s.writeIfChanged(ctx)
		due = nextSnapshot()
		next.Reset(time.Until(due))
	}
}

// nextSnapshot is when the next one is due after one of now.
func nextSnapshot() time.Time {
	return time.Now().Add(jitter.Around(snapshotInterval, snapshotJitter))
}

// writeIfChanged is one write of Run.
func (s *Snapshot) writeIfChanged(ctx context.Context) {
	if s.storedBefore.Load() == s.cache.near.counters.stored.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotWriteTime)
	defer cancel()
	w, err := s.write(ctx, snapshotPause)
	switch {
	case err == nil:
		s.log.Debug("snapshot written", w.attrs()...)
	case errors.Is(err, context.Canceled): // the last one follows
	default:
		s.failed("write", "the snapshot was not written; the file of before stays", err)
	}
}

// Write writes what the near tier holds now, without rests. When ctx ends before it has
// done so, the file of before stays.
func (s *Snapshot) Write(ctx context.Context) error {
	w, err := s.write(ctx, 0)
	if err != nil {
		s.failed("write", "the snapshot was not written; the file of before stays", err)
		return err
	}
	s.log.Info("snapshot written", w.attrs()...)
	return nil
}

// failed counts and logs a failure.
func (s *Snapshot) failed(operation, message string, err error) {
	s.metrics.failures.WithLabelValues(operation).Inc()
	s.log.Warn(message, "file", s.file, "error", err)
}

// spaceOf finds the space of a key whose entries may be in the file. Else it says why not.
func (s *Snapshot) spaceOf(key string) (*Space, skipReason) {
	if !s.keeps(key) {
		return nil, skipUnknown
	}
	space := s.cache.spaceOf(key)
	switch {
	case space == nil || !space.policy.Stores():
		return nil, skipUnknown
	case space.usesFar():
		return nil, skipRedis
	}
	return space, skipNone
}

// forget removes the file after a purge, so that what was purged does not come back, and
// has Run write another soon. Before the file is read it stays: those are purges that
// the instance learns of at its start, and which Read respects. On nil it does nothing.
func (s *Snapshot) forget() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.purges++
	if !s.reading.Load() {
		return
	}
	s.storedBefore.Store(0)
	if err := s.removeFile(); err != nil {
		s.metrics.failures.WithLabelValues("write").Inc()
		s.log.Error("what was purged is still in the snapshot: remove the file before the next start", "file", s.file, "error", err)
	}
	select {
	case s.purged <- struct{}{}:
	default:
	}
}

// forgetKey is forget after the purge of a key.
func (s *Snapshot) forgetKey(key string) {
	if s != nil && s.keeps(key) {
		s.forget()
	}
}
