package httpsource

import (
	"strings"
	"testing"
)

func BenchmarkDecodeJSON(b *testing.B) {
	body := []byte(`{"items":[` + strings.Repeat(`{"id":1,"title":"some title","url":"https://example.org/1"},`, 300) + `{}]}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := DecodeJSON(body); err != nil {
			b.Fatal(err)
		}
	}
}
