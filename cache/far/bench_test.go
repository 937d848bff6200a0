package far

import (
	"bytes"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"sundry/cache/far/redistest"
)

// BenchmarkLook reads values from Redis.
func BenchmarkLook(b *testing.B) {
	server := redistest.Start(b)
	tier, err := Open(Config{URL: server.URL(), Timeout: 5 * time.Second}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer tier.Close(b.Context())
	for _, size := range []int{500, 20 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			key := fmt.Sprint("size", size)
			tier.set(key, bytes.Repeat([]byte("x"), size), time.Hour)
			for tier.Look(b.Context(), key, 0).Value == nil { // until it is written
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				if f := tier.Look(b.Context(), key, 0); len(f.Value) != size {
					b.Fatal(len(f.Value))
				}
			}
		})
	}
}
