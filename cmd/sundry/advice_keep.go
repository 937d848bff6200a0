package main

import (
	"cmp"
	"context"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

const (
	// adviceEvery is how often the reports for the metrics are made, and what was seen is
	// kept.
	adviceEvery = 5 * time.Minute
	// adviceSpread is the share by which that varies.
	adviceSpread = 0.2
)

// adviceFile is where what was seen is kept over a restart: beside the snapshot, or else
// beside the settings; "" for nowhere.
func (s *server) adviceFile() string {
	if beside := cmp.Or(s.config.Cache.Snapshot, s.config.State); beside != "" {
		return beside + ".advice"
	}
	return ""
}

// readAdvice reads what an earlier process has seen.
func (s *server) readAdvice() {
	file := s.adviceFile()
	if file == "" {
		return
	}
	read := func() error { return s.observer.ReadFile(file, time.Now()) }
	if err := s.panics.FuncErr(panics.Advice, read)(); err != nil {
		s.log.Warn("advice begins anew", "error", err)
	}
}

// keepAdvice makes reports, and keeps what was seen, now and then, until ctx ends.
func (s *server) keepAdvice(ctx context.Context) {
	every := cmp.Or(s.process.adviceEvery, adviceEvery)
	s.observer.Update()
	for jitter.Pause(ctx, every, adviceSpread) == nil {
		s.observer.Update()
		s.writeAdvice()
	}
}

func (s *server) writeAdvice() {
	file := s.adviceFile()
	if file == "" {
		return
	}
	if err := s.observer.WriteFile(file); err != nil {
		s.log.Warn("what advice has seen was not kept", "error", err)
	}
}

// leaveAdvice keeps for the last time what was seen, if there is time left. The channel is
// closed when it is done.
func (s *server) leaveAdvice(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	s.panics.Go(panics.Advice, func() {
		defer close(done)
		if ctx.Err() == nil {
			s.writeAdvice()
		}
	})
	return done
}
