package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/jitter"
	"sundry/cache/web"
)

const (
	// snapshotWait bounds how long a start waits for the snapshot to be read; the rest is
	// read while the instance serves.
	snapshotWait = 2 * time.Second
	// syncLook is how often an instance that does not know all purges looks whether it
	// does: before that it reads no snapshot.
	syncLook = 100 * time.Millisecond
)

// snapshot keeps the near tier in a file.
type snapshot struct {
	*cache.Snapshot
	once sync.Once     // the file is read once, even if that panics
	done chan struct{} // closed when it has been read
}

// newSnapshot returns nil where the configuration names no file.
func (s *server) newSnapshot(reg prometheus.Registerer) *snapshot {
	if s.config.Cache.Snapshot == "" {
		return nil
	}
	kept := s.cache.Snapshot(cache.SnapshotConfig{
		File: s.config.Cache.Snapshot, Keeps: s.keeps, Registerer: reg, Log: s.log,
		DropsKnownSince: func() time.Time { return s.replicator.DropsKnownSince() }, // which is made after the snapshot
	})
	return &snapshot{Snapshot: kept, done: make(chan struct{})}
}

// keeps reports whether the catalog in force lets the entry of a key be in the file.
func (s *server) keeps(key string) bool {
	set := s.front.Catalog()
	return set != nil && set.Keeps(key)
}

// keepSnapshot reads the file once all purges are known, then writes it now and then, until
// ctx ends.
func (s *server) keepSnapshot(ctx context.Context) {
	if s.snapshot == nil || !s.awaitSync(ctx) {
		return
	}
	s.snapshot.once.Do(func() {
		defer close(s.snapshot.done)
		s.snapshot.Read(ctx)
		s.readAPIs()
	})
	s.snapshot.Run(ctx)
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

// leaveSnapshot writes the file for the last time.
func (s *server) leaveSnapshot(ctx context.Context) {
	if s.snapshot != nil {
		_ = s.snapshot.Write(ctx) // logged
	}
}

// apisFile is the file for what is kept of APIs; "": what Redis has is enough.
func (s *server) apisFile() string {
	if s.far != nil {
		return ""
	}
	return s.config.Cache.Snapshot + "-apis"
}

// readAPIs reads what was kept of APIs when the last process ended.
func (s *server) readAPIs() {
	file := s.apisFile()
	if file == "" {
		return
	}
	n, err := s.store.ReadFile(file, s.rulesOf, s.replicator.DropsKnownSince(), time.Now())
	switch {
	case errors.Is(err, web.ErrOtherVersion):
		s.log.Info("the stored responses of APIs were not read: the cache is cold", "reason", err)
	case err != nil:
		s.log.Warn("not all that was kept of APIs could be read", "read", n, "error", err)
	case n > 0:
		s.log.Info("read what was kept of APIs", "responses", n)
	}
}

// rulesOf are the rules under which something is kept; nil: of no API in force.
func (s *server) rulesOf(key string) *web.Rules {
	name, _, _ := strings.Cut(key, "/")
	if a, ok := s.front.Catalog().API(name); ok {
		return &a.Rules
	}
	return nil
}

// writeAPIs writes what is kept of APIs, when no more requests come. A process that has taken over meanwhile would read it at its
// own next start, when it no longer holds.
func (s *server) writeAPIs() {
	file := s.apisFile()
	if s.snapshot == nil || file == "" || s.config.ReusePort || len(s.front.Catalog().APIs) == 0 {
		return
	}
	if n, err := s.store.WriteFile(file); err != nil {
		s.log.Warn("what is kept of APIs could not be written", "error", err)
	} else {
		s.log.Info("wrote what is kept of APIs", "responses", n)
	}
}
