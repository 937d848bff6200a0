package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"sundry/cache"
)

// sampler picks the first event of each second, and one of every N events.
type sampler struct {
	count  atomic.Uint64
	second atomic.Int64
}

func (s *sampler) pick(now time.Time, of uint64) bool {
	nth := s.count.Add(1)%of == 0
	second, last := now.Unix(), s.second.Load()
	return second != last && s.second.CompareAndSwap(last, second) || nth
}

// wasRefused reports whether the outcome is a refusal, of which a sample is logged: so is that sources
// which failed are not asked again yet. Their failure has a line of its own.
func (req *request) wasRefused() bool {
	switch req.outcome {
	case outcomeLimited, outcomeShed, outcomeInvalid:
		return true
	case outcomeError:
		if req.failed != nil {
			_, paused := errors.AsType[*cache.PausedError](req.failed.cause)
			return paused
		}
	}
	return req.route == nil && req.outcome == outcomeNegative
}

// isHit reports whether the request is one of those of which a sample is logged, each line
// with the weight of all it stands for.
func (req *request) isHit() bool {
	return req.outcome == outcomeHit || req.outcome == outcomeNotModified
}

// sampledOut reports whether the request is not logged: of hits and refused
// requests only a sample is.
func (s *Server) sampledOut(req *request) bool {
	switch {
	case req.isHit():
		return s.hitCount.Add(1)%req.route.settings.HitSample != 0
	case req.wasRefused():
		return !s.refusals[req.outcome].pick(req.start, s.current.Load().settings.RefusalSample)
	}
	return false
}

// skipsLog counts a hit as sampledOut does, unless it is one to be logged: then it is
// not counted.
func (s *Server) skipsLog(sample uint64) bool {
	for {
		n := s.hitCount.Load()
		if (n+1)%sample == 0 {
			return false
		}
		if s.hitCount.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// RequestMessage is the message of the log lines of requests.
const RequestMessage = "request"

// log writes one line per request, unless it is sampled out. Parameters are never
// logged, and of keys no more than their marks.
func (s *Server) log(req *request, took time.Duration) {
	if s.sampledOut(req) {
		return
	}
	level := slog.LevelInfo
	if req.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	ctx := context.Background()
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	name := unrouted
	if req.route != nil {
		name = req.route.endpoint.Name
	}
	attrs := append(make([]slog.Attr, 0, 14),
		slog.String("id", req.id.String()), slog.String("endpoint", name), slog.String("outcome", req.outcome.String()),
		slog.Int("status", req.status), slog.Int("bytes", req.sent), slog.Duration("took", took),
	)
	if src := req.answer.Meta.Source; src != "" {
		attrs = append(attrs, slog.String("source", src), slog.Duration("age", req.answer.Age))
	}
	if req.key != "" && req.route.settings.LogKeys {
		attrs = appendMark(attrs, "key", s.marks.ofKey(req.route.endpoint, req.key))
	}
	if req.isHit() && req.route.settings.HitSample > 1 {
		attrs = append(attrs, slog.Uint64("weight", req.route.settings.HitSample))
	}
	if req.answer.Meta.LastResort {
		attrs = append(attrs, slog.Bool("last_resort", true))
	}
	if tp := traceParent(req.r); tp != "" {
		attrs = append(attrs, slog.String("traceparent", tp))
	}
	if req.failed != nil && req.failed.cause != nil {
		attrs = append(attrs, slog.String("cause", req.failed.cause.Error()))
	} else if req.answer.Failed != nil {
		attrs = append(attrs, slog.String("cause", req.answer.Failed.Error()))
	}
	s.writeLine(ctx, level, RequestMessage, attrs)
}

// writeLine does what LogAttrs does where the level is enabled, without looking for the place that
// it is called from, which no line tells.
func (s *Server) writeLine(ctx context.Context, level slog.Level, message string, attrs []slog.Attr) {
	line := slog.NewRecord(time.Now(), level, message, 0)
	line.AddAttrs(attrs...)
	_ = s.cfg.Log.Handler().Handle(ctx, line) // as slog has it
}

// FillMessage is the message of the log lines of fills.
const FillMessage = "fill"

// logFill writes one line for each fill of an endpoint that is cached, and samples none:
// they are what tells how often contents change. The age is that of the copy in the cache
// at the time of the line.
func (s *Server) logFill(f cache.Filled) {
	rt, ctx := s.current.Load().routes[f.Space], context.Background()
	if rt == nil || !rt.endpoint.Policy.Stores() || !s.cfg.Log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := append(make([]slog.Attr, 0, 5), slog.String("endpoint", f.Space))
	if rt.settings.LogKeys {
		attrs = appendMark(attrs, "key", s.marks.ofKey(rt.endpoint, f.Name))
	}
	attrs = append(attrs, slog.String("outcome", f.Outcome()))
	if f.Failed != nil {
		attrs = append(attrs, slog.String("cause", f.Failed.Error()))
	} else {
		attrs = appendMark(attrs, "digest", s.marks.ofContent(rt.endpoint, f.Name, f.Digest))
	}
	if !f.Before.IsZero() {
		attrs = append(attrs, slog.Duration("age", time.Since(f.Before).Round(time.Millisecond)))
	}
	s.writeLine(ctx, slog.LevelInfo, FillMessage, attrs)
}

// appendMark leaves out what has no mark.
func appendMark(attrs []slog.Attr, name, mark string) []slog.Attr {
	if mark == "" {
		return attrs
	}
	return append(attrs, slog.String(name, mark))
}
