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

// seenEnding is that of the file in which what was seen is kept over a restart.
const seenEnding = ".advice"

// fileBeside is a file that is kept beside the snapshot, or else beside the settings; "" for none.
func (s *server) fileBeside(ending string) string {
	if beside := cmp.Or(s.config.Cache.Snapshot, s.config.State); beside != "" {
		return beside + ending
	}
	return ""
}

// readSeen reads what an earlier process has seen.
func (s *server) readSeen() {
	read := func() error { return s.observer.ReadFile(s.fileBeside(seenEnding), time.Now()) }
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
	if err := s.observer.WriteFile(s.fileBeside(seenEnding)); err != nil {
		s.log.Warn("what advice has seen was not kept", "error", err)
	}
}

// leaveSeen keeps for the last time what was seen, if there is time left.
func (s *server) leaveSeen(ctx context.Context) {
	if ctx.Err() == nil {
		s.writeSeen()
	}
}
