package redact

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// BenchmarkLine is a log line of a request, with thirty secrets in the set, and without the handler.
func BenchmarkLine(b *testing.B) {
	set := &Set{}
	for i := range 30 {
		set.Add(fmt.Sprintf("s3cret-%d-of-the-benchmark", i))
	}
	plain := slog.DiscardHandler
	for name, handler := range map[string]slog.Handler{"plain": plain, "redacted": NewHandler(plain, set)} {
		b.Run(name, func(b *testing.B) {
			r := slog.NewRecord(time.Now(), slog.LevelInfo, "request", 0)
			r.AddAttrs(slog.String("id", "c57fa64008af7822"), slog.String("endpoint", "weather"), slog.String("path", "/v1/forecast/beijing/daily"), slog.String("outcome", "miss"),
				slog.Int("status", 200), slog.Int("bytes", 4096), slog.Duration("took", 21*time.Millisecond))
			b.ReportAllocs()
			for b.Loop() {
				_ = handler.Handle(context.Background(), r)
			}
		})
	}
}
