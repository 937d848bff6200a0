package proxy

import (
	"context"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"
)

// requestID keeps an id that came with the request when it is harmless, or
// makes one.
func requestID(r *http.Request) string {
	if id := headerOf(r, "X-Request-Id"); id != "" && len(id) <= 64 && plainToken(id) {
		return id
	}
	var b [8]byte
	n := rand.Uint64()
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}

func plainToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// log writes one line per request: a sample of the hits, all of the rest.
// Parameters are never in it.
func (s *Server) log(x *exchange, took time.Duration) {
	if x.outcome == outcomeHit && s.hits.Add(1)%x.route.rules.HitSample != 0 {
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
