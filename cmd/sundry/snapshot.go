package main

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/jitter"
	"sundry/cache/snapshot"
	"sundry/cache/web"
	"sundry/metrics/panics"
)

const (
	// snapshotWait bounds how long a start waits for the snapshot to be read; the rest is
	// read while the instance serves.
	snapshotWait = 2 * time.Second
	// syncLook is how often an instance that does not know all purges looks whether it
	// does: before that it reads no snapshot.
	syncLook = 100 * time.Millisecond
)

// snapshotFile is the file that keeps what is in memory over a restart.
type snapshotFile struct {
	*snapshot.File
	once sync.Once     // the file is read once, even if that panics
	done chan struct{} // closed when it has been read
	// quiet means that no more requests come, which may change or purge what is stored of APIs.
	quiet atomic.Bool
}

// newSnapshot returns nil without a data directory.
func (s *server) newSnapshot(reg prometheus.Registerer) *snapshotFile {
	path := s.config.InData("snapshot")
	if path == "" {
		return nil
	}
	known := func() time.Time { return s.replicator.DropsKnownSince() } // which is made after this
	apis := s.store.Kept(s.rulesOf, known)
	return &snapshotFile{done: make(chan struct{}), File: snapshot.New(snapshot.Config{
		Path: path, Registerer: reg, Log: s.log,
		Caches: []snapshot.Cache{s.cache.Kept(s.keeps, known), s.keptOfAPIs(apis)},
	})}
}

// keptOfAPIs is what the file keeps of APIs: nothing with Redis, which has it.
func (s *server) keptOfAPIs(all snapshot.Cache) snapshot.Cache {
	values, admit := all.All, all.Admit
	all.All = func(yield func(string, []byte) bool) {
		if s.far == nil && s.snapshot.quiet.Load() {
			values(yield)
		}
	}
	all.Admit = func(key string, value []byte) snapshot.Outcome {
		if s.far != nil {
			return snapshot.Redis
		}
		return admit(key, value)
	}
	return all
}

// keeps reports whether the catalog in force lets the entry of a key be in the file.
func (s *server) keeps(key string) bool {
	set := s.front.Catalog()
	return set != nil && set.Keeps(key)
}

// rulesOf are the rules under which something is kept; nil: of no API in force.
func (s *server) rulesOf(key string) *web.Rules {
	name, _, _ := strings.Cut(key, "/")
	if a, ok := s.front.Catalog().API(name); ok {
		return &a.Rules
	}
	return nil
}

// readSnapshot reads the file once all purges are known, unless ctx ends before.
func (s *server) readSnapshot(ctx context.Context) {
	if s.snapshot == nil || !s.awaitSync(ctx) {
		return
	}
	s.snapshot.once.Do(func() {
		defer close(s.snapshot.done)
		s.snapshot.Read(ctx)
	})
}

// awaitSync returns false when ctx ends before this instance knows all purges.
func (s *server) awaitSync(ctx context.Context) bool {
	for !s.inSync() {
		if jitter.Pause(ctx, syncLook, 0) != nil {
			return false
		}
	}
	return true
}

// awaitSnapshot waits for the file to be read, for snapshotWait at most, and not at all
// while this instance does not know all purges.
func (s *server) awaitSnapshot(ctx context.Context) {
	if s.snapshot == nil || !s.inSync() {
		return
	}
	timer := time.NewTimer(snapshotWait)
	defer timer.Stop()
	select {
	case <-s.snapshot.done:
	case <-timer.C:
		s.log.Info("serving while the snapshot is still being read", "waited", snapshotWait)
	case <-ctx.Done():
	}
}

// leaveSnapshot writes the file, in the time that is left of the drain, or else in closeTime. quiet means that all requests have ended.
func (s *server) leaveSnapshot(ctx context.Context, quiet bool) {
	if s.snapshot == nil {
		return
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(s.process.urgent, closeTime)
		defer cancel()
	}
	s.snapshot.quiet.Store(quiet)
	await(ctx, s.leave(ctx, panics.Snapshot, func(ctx context.Context) { _ = s.snapshot.Write(ctx) })) // logged
}
