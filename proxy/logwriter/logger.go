// Package logwriter writes the log behind those who log. It promises that a log that cannot be
// written, or not as fast as there are lines, costs lines and holds up nobody, and that lines
// which matter are written at once.
package logwriter

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"slices"
	"time"
)

// New returns a logger in a format, text or json, and what writes its lines: call its End when
// the process ends. Lines with one of these messages, of which there are many, wait for others
// for a moment; all others are written at once.
func New(out io.Writer, format string, level slog.Leveler, many ...string) (*slog.Logger, *Writer) {
	return logTo(out, handlers(format, level), many)
}

// NewForJournal is New for the journal of systemd: each line begins with its priority.
func NewForJournal(out io.Writer, format string, level slog.Leveler, many ...string) (*slog.Logger, *Writer) {
	plain := handlers(format, level)
	return logTo(out, func(out io.Writer) slog.Handler { return newJournalHandler(out, plain) }, many)
}

// handlers returns what makes handlers of a format.
func handlers(format string, level slog.Leveler) func(io.Writer) slog.Handler {
	return func(out io.Writer) slog.Handler {
		if format == "json" {
			return slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level})
		}
		return slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})
	}
}

func logTo(out io.Writer, handler func(io.Writer) slog.Handler, many []string) (*slog.Logger, *Writer) {
	lines := newWriter(out, func(lost uint64) []byte {
		var b bytes.Buffer
		r := slog.NewRecord(time.Now(), slog.LevelWarn, "lines of the log were lost, because it could not be written", 0)
		r.AddAttrs(slog.Uint64("lines", lost))
		_ = handler(&b).Handle(context.Background(), r) // a buffer takes everything
		return b.Bytes()
	})
	return slog.New(promptHandler{handler(lines), lines, many}), lines
}

// promptHandler lets only the lines of which there are many wait.
type promptHandler struct {
	slog.Handler
	lines *Writer
	many  []string
}

// Handle implements slog.Handler.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if !slices.Contains(h.many, r.Message) {
		h.lines.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.Handler = h.Handler.WithAttrs(attrs)
	return h
}

// WithGroup implements slog.Handler.
func (h promptHandler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)
	return h
}
