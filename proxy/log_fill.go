package proxy

import (
	"context"
	"log/slog"
	"time"

	"sundry/cache"
)

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
	if !f.Failed {
		attrs = appendMark(attrs, "digest", s.marks.ofContent(rt.endpoint, f.Name, f.Digest))
	}
	if !f.Before.IsZero() {
		attrs = append(attrs, slog.Duration("age", time.Since(f.Before).Round(time.Millisecond)))
	}
	s.cfg.Log.LogAttrs(ctx, slog.LevelInfo, FillMessage, attrs...)
}

// appendMark leaves out what has no mark.
func appendMark(attrs []slog.Attr, name, mark string) []slog.Attr {
	if mark == "" {
		return attrs
	}
	return append(attrs, slog.String(name, mark))
}
