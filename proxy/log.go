package proxy

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"
)

// sampler picks of many lines of a kind the first of each second, and one of so
// many.
type sampler struct {
	seen   atomic.Uint64
	second atomic.Int64
}

func (s *sampler) pick(now time.Time, of uint64) bool {
	nth := s.seen.Add(1)%of == 0
	second, last := now.Unix(), s.second.Load()
	return second != last && s.second.CompareAndSwap(last, second) || nth
}

// refused tells who was sent away without anything being tried.
func (x *exchange) refused() bool {
	switch x.outcome {
	case outcomeLimited, outcomeShed, outcomeInvalid:
		return true
	}
	return x.route == nil && x.outcome == outcomeNegative
}

// passedOver tells which requests have no line: all hits and refusals but a
// sample.
func (s *Server) passedOver(x *exchange) bool {
	switch {
	case x.outcome == outcomeHit:
		return s.hits.Add(1)%x.route.rules.HitSample != 0
	case x.refused():
		return !s.refusals[x.outcome].pick(x.start, s.set.Load().rules.RefusalSample)
	}
	return false
}

// log writes one line per request: a sample of the hits and refusals, all of the
// rest. Parameters are never in it.
func (s *Server) log(x *exchange, took time.Duration) {
	if s.passedOver(x) {
		return
	}
	level := slog.LevelInfo
	if x.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	name := unrouted
	if x.route != nil {
		name = x.route.endpoint.Name
	}
	attrs := []slog.Attr{
		slog.String("id", x.id), slog.String("endpoint", name), slog.String("outcome", x.outcome.String()),
		slog.Int("status", x.status), slog.Int("bytes", x.sent), slog.Duration("took", took),
	}
	if src := x.hit.Meta.Source; src != "" {
		attrs = append(attrs, slog.String("source", src), slog.Duration("age", x.hit.Age))
	}
	if x.hit.Meta.LastResort {
		attrs = append(attrs, slog.Bool("last_resort", true))
	}
	if tp := traceParent(x.r); tp != "" {
		attrs = append(attrs, slog.String("traceparent", tp))
	}
	if x.failed != nil && x.failed.cause != nil {
		attrs = append(attrs, slog.String("cause", x.failed.cause.Error()))
	} else if x.hit.Failed != nil {
		attrs = append(attrs, slog.String("cause", x.hit.Failed.Error()))
	}
	s.cfg.Log.LogAttrs(ctx, level, "request", attrs...)
}
