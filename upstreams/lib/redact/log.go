package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler passes log lines on to another handler, with all texts in them as Set.Text has them.
type Handler struct {
	next slog.Handler
	set  *Set
}

// NewHandler makes a handler.
func NewHandler(next slog.Handler, set *Set) Handler { return Handler{next, set} }

// Enabled implements slog.Handler.
func (h Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h Handler) Handle(ctx context.Context, r slog.Record) error {
	message, changed := h.set.Text(r.Message), false
	r.Attrs(func(a slog.Attr) bool {
		_, changed = h.clean(a)
		return !changed
	})
	if message == r.Message && !changed {
		return h.next.Handle(ctx, r)
	}
	clean := slog.NewRecord(r.Time, r.Level, message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		a, _ = h.clean(a)
		clean.AddAttrs(a)
		return true
	})
	return h.next.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (h Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return Handler{h.next.WithAttrs(h.cleanAll(attrs)), h.set}
}

// WithGroup implements slog.Handler.
func (h Handler) WithGroup(name string) slog.Handler { return Handler{h.next.WithGroup(name), h.set} }

// clean returns an attribute as it may be logged, and whether it is another one.
func (h Handler) clean(a slog.Attr) (slog.Attr, bool) {
	a.Value = a.Value.Resolve()
	var text string
	switch a.Value.Kind() {
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		text = fmt.Sprint(a.Value.Any())
	case slog.KindGroup:
		a.Value = slog.GroupValue(h.cleanAll(a.Value.Group())...)
		return a, true
	default:
		return a, false
	}
	clean := h.set.Text(text)
	if clean == text {
		return a, false
	}
	return slog.String(a.Key, clean), true
}

func (h Handler) cleanAll(attrs []slog.Attr) []slog.Attr {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i], _ = h.clean(a)
	}
	return clean
}
