package main

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"sundry/cache/advisor"
	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

const (
	// adviceEvery is how often what the advisor knows is kept, and shared with a fleet.
	adviceEvery = 5 * time.Minute
	// adviceSpread is the share by which that varies.
	adviceSpread = 0.2
	// adviceLife is how long it is kept in Redis without any instance: for as long as
	// observations count.
	adviceLife = 35 * 24 * time.Hour
)

// keptAdvice is what the advisor knows, kept over a restart: in Redis, where the instances
// of a fleet share it, or beside the snapshot.
type keptAdvice struct {
	every time.Duration
	read  func() error // before the first request; nil: not then
	// round stores what is known, and reads what others know. The last one leaves.
	round func(ctx context.Context, leaves bool) error

	mu   sync.Mutex // of rounds
	left bool
}

// newKeptAdvice returns nil where nothing can be kept.
func (s *server) newKeptAdvice() *keptAdvice {
	k := &keptAdvice{every: adviceEvery}
	if s.process.adviceEvery > 0 {
		k.every = s.process.adviceEvery
	}
	switch {
	case s.far != nil:
		fleet := &advisor.Fleet{Advisor: s.advisor, Shelf: s.far.SharedMap("advisor", adviceLife), Self: rand.Text(), Log: s.log}
		k.round = func(ctx context.Context, leaves bool) error { return fleet.Round(ctx, time.Now(), leaves) }
	case s.config.Cache.Snapshot != "":
		file := s.config.Cache.Snapshot + ".advisor"
		k.read = func() error { return s.advisor.ReadFile(file, time.Now()) }
		k.round = func(context.Context, bool) error { return s.advisor.WriteFile(file, time.Now()) }
	default:
		return nil
	}
	return k
}

// readAdvice reads what an earlier process kept in a file.
func (s *server) readAdvice() {
	if s.keptAdvice == nil || s.keptAdvice.read == nil {
		return
	}
	if err := s.panics.FuncErr(panics.Advice, s.keptAdvice.read)(); err != nil {
		s.log.Warn("the advisor starts anew", "error", err)
	}
}

// keepAdvice stores what the advisor knows now and then, until ctx ends. What a fleet
// knows is read at once, behind the start: no answer depends on it.
func (s *server) keepAdvice(ctx context.Context) {
	k := s.keptAdvice
	if k == nil {
		return
	}
	if k.read == nil {
		s.adviceRound(ctx, false)
	}
	for jitter.Pause(ctx, k.every, adviceSpread) == nil {
		s.adviceRound(ctx, false)
	}
}

func (s *server) adviceRound(ctx context.Context, leaves bool) {
	k := s.keptAdvice
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left || ctx.Err() != nil {
		return
	}
	k.left = leaves
	if err := k.round(ctx, leaves); err != nil && ctx.Err() == nil {
		s.log.Warn("what the advisor has observed was not kept", "error", err)
	}
}

// leaveAdvice stores for the last time what the advisor knows. The channel is closed when
// it is done.
func (s *server) leaveAdvice(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	s.panics.Go(panics.Advice, func() {
		defer close(done)
		if s.keptAdvice != nil {
			s.adviceRound(ctx, true)
		}
	})
	return done
}
