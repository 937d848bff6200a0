package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
	"sundry/proxy/logmarks"
)

const (
	// marksWait bounds how long a start waits for the secret of the marks in Redis, and
	// marksPause is the time between two later tries, about.
	marksWait  = 500 * time.Millisecond
	marksPause = 10 * time.Second
)

// startMarks has the log mark with the secret that is kept: in Redis, or beside the state or
// the snapshot. Where nothing is kept, marks are others after each start.
func (s *server) startMarks(ctx context.Context, loops *sync.WaitGroup) {
	file := s.fileBeside(".marks")
	switch {
	case s.far != nil:
		first, cancel := context.WithTimeout(ctx, marksWait)
		defer cancel()
		if !s.markByFleet(first) {
			loops.Go(s.panics.Loop(ctx, panics.Settings, s.markByFleetAtLast))
		}
	case file != "":
		s.mark(logmarks.OfFile(file))
	}
}

func (s *server) markByFleetAtLast(ctx context.Context) {
	for jitter.Pause(ctx, marksPause, 0.2) == nil && !s.markByFleet(ctx) {
	}
}

// markByFleet reports whether there is no use in trying again.
func (s *server) markByFleet(ctx context.Context) bool {
	secret, err := logmarks.OfFleet(ctx, s.far)
	if err != nil && !errors.Is(err, logmarks.ErrDamaged) {
		return false
	}
	s.mark(secret, err)
	return true
}

func (s *server) mark(secret logmarks.Secret, err error) {
	if err != nil {
		s.log.Warn("marks in the log are for this process alone", "error", err)
		return
	}
	s.front.MarkWith(secret)
}
