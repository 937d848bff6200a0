package logwriter

import (
	"context"
	"io"
	"log/slog"
)

// Priority returns what the journal of systemd reads at the beginning of a line as its priority (sd-daemon(3)).
func Priority(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return "<3>"
	case level >= slog.LevelWarn:
		return "<4>"
	case level >= slog.LevelInfo:
		return "<6>"
	}
	return "<7>"
}

// journalHandler writes each line with its priority, by a handler for each.
type journalHandler map[string]slog.Handler

func newJournalHandler(out io.Writer, handler func(io.Writer) slog.Handler) journalHandler {
	h := journalHandler{}
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		p := Priority(level)
		h[p] = handler(prefixed{out, p})
	}
	return h
}

// prefixed writes something in front of each line. slog writes a line at a time.
type prefixed struct {
	io.Writer
	prefix string
}

// Write implements io.Writer.
func (w prefixed) Write(line []byte) (int, error) {
	n, err := w.Writer.Write(append([]byte(w.prefix), line...))
	return max(0, n-len(w.prefix)), err
}

// Enabled implements slog.Handler.
func (h journalHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h[Priority(level)].Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h journalHandler) Handle(ctx context.Context, r slog.Record) error {
	return h[Priority(r.Level)].Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (h journalHandler) WithGroup(name string) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithGroup(name) })
}

func (h journalHandler) each(change func(slog.Handler) slog.Handler) journalHandler {
	next := journalHandler{}
	for p, one := range h {
		next[p] = change(one)
	}
	return next
}
