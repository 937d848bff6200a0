package web

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"sundry/cache/web/webtest"
)

// BenchmarkFindInRedis finds an object that another instance has stored, but for the time that Redis takes.
func BenchmarkFindInRedis(b *testing.B) {
	for _, size := range []int{500, 20 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			far := webtest.Far{}
			c := StoreConfig{Memory: 64 << 20, Variants: 3, Far: far}
			one, err1 := NewStore(c)
			two, err2 := NewStore(c)
			if err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
			fields := []string{"Content-Type: application/json", `Etag: "0123456789abcdef"`, "Date: Tue, 24 Nov 2026 12:00:00 GMT", "Server: origin", "X-Request-Id: 0123456789", "Vary: X-A", "Strict-Transport-Security: max-age=31536000"}
			one.Put("x/a", object(1, string(bytes.Repeat([]byte("x"), size)), fields...))
			request, now := selector("X-A: 1"), noon.Add(2*time.Second)
			b.ReportAllocs()
			for b.Loop() {
				two.table.Invalidate("x/a")
				if v := two.Find(b.Context(), "x/a", request, &usualRules, now); len(v) != 1 {
					b.Fatal("not found")
				}
			}
		})
	}
}
