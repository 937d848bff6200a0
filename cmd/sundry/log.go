package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"time"

	"sundry/proxy"
)

// newLogger also returns the level, which a reload may change, and what writes the lines:
// call its end when the process ends.
func newLogger(c *config, w *process) (log *slog.Logger, level *slog.LevelVar, lines *lineWriter) {
	level = &slog.LevelVar{}
	level.Set(c.level())
	handler := func(out io.Writer) slog.Handler {
		if c.LogFormat == "json" {
			return slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level})
		}
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	}
	lines = newLineWriter(w.stderr, func(lost uint64) []byte {
		var b bytes.Buffer
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "lines of the log were lost, because it could not be written", 0)
		r.AddAttrs(slog.Uint64("lines", lost))
		_ = handler(&b).Handle(context.Background(), r) // a buffer takes everything
		return b.Bytes()
	})
	return slog.New(promptHandler{handler(lines), lines}), level, lines
}

func (c *config) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the setting allows valid levels only
	return level
}

// promptHandler lets only the lines of requests and of fills wait.
type promptHandler struct {
	slog.Handler
	lines *lineWriter
}

// Handle implements slog.Handler.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Message != proxy.RequestMessage && r.Message != proxy.FillMessage {
		h.lines.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.lines}
}

// WithGroup implements slog.Handler.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.lines}
}
