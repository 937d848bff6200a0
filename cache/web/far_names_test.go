package web

import (
	"slices"
	"strings"
	"testing"
)

// TestManyNamesOfAForgedObject take no memory: it is refused before anything is made of them.
func TestManyNamesOfAForgedObject(t *testing.T) {
	o := object(1, "body")
	o.Names, o.Selected = slices.Repeat([]string{"A"}, 20_000), map[string]string{"A": strings.Repeat("x", 10_000)}
	value, err := encode(o)
	if err != nil {
		t.Fatal(err)
	}
	allocated := testing.Benchmark(func(b *testing.B) {
		for range b.N {
			if _, err := decode(value, o.Requested, &usualRules, noon); err == nil {
				b.Fatal("it is taken for an object")
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 16<<20 {
		t.Errorf("%d MiB are allocated for a value of %d KiB", allocated>>20, len(value)>>10)
	}
}
