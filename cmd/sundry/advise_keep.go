package main

import (
	"cmp"
	"context"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

// adviseEvery is how often, about, the reports for the metrics are made, and what was seen is
// kept.
const adviseEvery = 5 * time.Minute

// seenFile returns the file that keeps what was seen over a restart; "" means none.
func (s *server) seenFile() string { return s.config.InData("advice") }

// readSeen reads what an earlier process has seen.
func (s *server) readSeen() {
	read := func() error { return s.observer.ReadFile(s.seenFile(), time.Now()) }
	if err := s.panics.FuncErr(panics.Advice, read)(); err != nil {
		s.log.Warn("advice begins anew", "error", err)
	}
}

// keepSeen makes reports, and keeps what was seen, now and then, until ctx ends.
func (s *server) keepSeen(ctx context.Context) {
	every := cmp.Or(s.process.adviseEvery, adviseEvery)
	s.observer.Update()
	for jitter.Pause(ctx, every, 0.2) == nil {
		s.observer.Update()
		s.writeSeen()
	}
}

func (s *server) writeSeen() {
	if err := s.observer.WriteFile(s.seenFile()); err != nil {
		s.log.Warn("what advice has seen was not kept", "error", err)
	}
}

// leaveSeen keeps for the last time what was seen, if there is time left.
func (s *server) leaveSeen(ctx context.Context) {
	if ctx.Err() == nil {
		s.writeSeen()
	}
}
