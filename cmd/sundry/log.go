package main

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"sundry/proxy"
)

// newLogger also returns the level, which a reload may change, and what is to be called
// when the process ends.
func newLogger(c *config, w *process) (log *slog.Logger, level *slog.LevelVar, end func()) {
	level = &slog.LevelVar{}
	level.Set(c.level())
	opts, out := &slog.HandlerOptions{Level: level}, &burstWriter{out: w.stderr}
	var lines slog.Handler = slog.NewTextHandler(out, opts)
	if c.LogFormat == "json" {
		lines = slog.NewJSONHandler(out, opts)
	}
	return slog.New(promptHandler{lines, out}), level, out.end
}

func (c *config) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the setting allows valid levels only
	return level
}

// Bounds of what a burst of lines waits for.
const (
	burstSpan  = 10 * time.Millisecond
	burstBytes = 32 << 10
)

// burstWriter writes a line at once, and what follows it within burstSpan together: at
// ten thousand requests a second, a system call for each line would cost as much as a
// hit. A process that is killed loses the lines of the last burstSpan.
type burstWriter struct {
	out io.Writer

	mu      sync.Mutex
	waiting []byte
	written time.Time   // when it last wrote
	timer   *time.Timer // nil before the first line that waited
	armed   bool
	ended   bool
}

// Write implements io.Writer. The error is that of an earlier write, or nil.
func (b *burstWriter) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, line...)
	left := burstSpan - time.Since(b.written)
	switch {
	case left <= 0 && !b.armed, len(b.waiting) >= burstBytes, b.ended:
		b.write()
	case !b.armed:
		b.arm(left)
	}
	return len(line), nil
}

// flush writes what waits.
func (b *burstWriter) flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.write()
}

// end flushes. From now on nothing waits.
func (b *burstWriter) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	b.write()
}

// write is called with the lock held.
func (b *burstWriter) write() {
	if b.armed {
		b.timer.Stop()
		b.armed = false
	}
	if len(b.waiting) > 0 {
		_, _ = b.out.Write(b.waiting) // there is nowhere to report it
		b.waiting, b.written = b.waiting[:0], time.Now()
	}
}

// arm is called with the lock held.
func (b *burstWriter) arm(left time.Duration) {
	b.armed = true
	if b.timer == nil {
		b.timer = time.AfterFunc(left, b.flush)
		return
	}
	b.timer.Reset(left)
}

// promptHandler lets only the lines of requests wait.
type promptHandler struct {
	slog.Handler
	out *burstWriter
}

// Handle implements slog.Handler.
func (h promptHandler) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if r.Message != proxy.RequestMessage {
		h.out.flush()
	}
	return err
}

// WithAttrs implements slog.Handler.
func (h promptHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return promptHandler{h.Handler.WithAttrs(attrs), h.out}
}

// WithGroup implements slog.Handler.
func (h promptHandler) WithGroup(name string) slog.Handler {
	return promptHandler{h.Handler.WithGroup(name), h.out}
}
