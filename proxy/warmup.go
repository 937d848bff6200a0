package proxy

import (
	"context"
	"math/rand/v2"
	"time"

	"sundry/upstreams/catalog"
)

// Warm fills the endpoints whose files say warm: true, now and shortly after each
// publication, until ctx ends. In between it refreshes what is about to become stale.
func (s *Server) Warm(ctx context.Context) {
	for {
		next := s.warmOnce(ctx, time.Now())
		// Jitter keeps the instances of a fleet from asking at the same moment.
		pause := time.NewTimer(time.Until(next) + time.Duration(rand.Int64N(int64(5*time.Second))))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

// warmPause is the longest pause between two rounds, without the jitter.
const warmPause = 10 * time.Minute

// warmOnce fills what is not fresh, and returns when the next round is due.
func (s *Server) warmOnce(ctx context.Context, now time.Time) time.Time {
	next := now.Add(warmPause)
	for _, rt := range s.current.Load().routes {
		if !rt.endpoint.Warm {
			continue
		}
		in, bad := rt.endpoint.Parse("", catalog.Caller{})
		if bad != nil || ctx.Err() != nil {
			continue
		}
		if err := rt.space.Warm(ctx, in.Key(), &catalog.Fill{Input: in}); err != nil {
			s.cfg.Log.Warn("warm-up failed", "endpoint", rt.endpoint.Name, "error", err)
		}
		if until := rt.endpoint.Policy.Until; until != nil {
			if due := until.Next(now); due.Before(next) {
				next = due
			}
		}
	}
	return next
}
