package catalog

import "testing"

// BenchmarkLoad measures what a start takes to read and compile the built-in files.
func BenchmarkLoad(b *testing.B) {
	env := testEnvironment(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(Options{}, env); err != nil {
			b.Fatal(err)
		}
	}
}
