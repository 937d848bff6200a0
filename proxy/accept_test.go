package proxy

import (
	"testing"

	"sundry/cache/entry"
)

func TestAcceptedCodings(t *testing.T) {
	none, gzip, zstd := entry.Codings(0), entry.Codings(0).With(entry.Gzip), entry.Codings(0).With(entry.Zstd)
	for _, r := range []struct {
		lines []string
		want  entry.Codings
	}{
		{nil, none},
		{[]string{""}, none},
		{[]string{"br, gzip"}, gzip},
		{[]string{"br", "gzip"}, gzip},
		{[]string{"br", "gzip", "deflate, ZSTD"}, gzip | zstd},
		{[]string{"gzip;Q=0"}, none},
		{[]string{"gzip ; Q=0.000"}, none},
		{[]string{"gzip\t;\tq=0"}, none},
		{[]string{"gzip; q = 0"}, none},
		{[]string{"gzip;level=1;q=0"}, none},
		{[]string{"gzip;xq=0"}, gzip},
		{[]string{"gzip;q=0.001"}, gzip},
		{[]string{"gzip;q=much"}, none},
		{[]string{"gzip;q="}, none},
		{[]string{"*;Q=0", "gzip"}, gzip},
		{[]string{"*", "gzip;Q=0"}, zstd},
		{[]string{"gzip;q=0", "gzip"}, none},
		{[]string{"X-GZIP"}, gzip},
	} {
		if got := acceptedCodings(r.lines); got != r.want {
			t.Errorf("%q: %b, want %b", r.lines, got, r.want)
		}
	}
	lines := []string{"br, GZIP;q=0.5", "zstd"}
	if n := testing.AllocsPerRun(100, func() { acceptedCodings(lines) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzAcceptedCodings: what is known by heart is what would be parsed.
func FuzzAcceptedCodings(f *testing.F) {
	for _, line := range []string{"", "identity", "gzip", "gzip, deflate", "deflate, gzip", "gzip, deflate, br", "gzip, deflate, br, zstd", "gzip;q=0", "*"} {
		f.Add(line, "")
		f.Add(line, "zstd;q=0")
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		for _, lines := range [][]string{{first}, {first, second}} {
			if got, want := acceptedCodings(lines), parseCodings(lines); got != want {
				t.Fatalf("%q: %b, want %b", lines, got, want)
			}
		}
	})
}

func TestMatches(t *testing.T) {
	for _, r := range []struct {
		lines []string
		want  bool
	}{
		{nil, false}, {[]string{""}, false}, {[]string{`"a"`}, true}, {[]string{`W/"a"`}, true}, {[]string{`"b"`, `"c", "a"`}, true},
		{[]string{`"b"`, `*`}, true}, {[]string{`"b"`, `"c"`}, false},
	} {
		for _, tag := range []string{`"a"`, `W/"a"`} {
			if got := matches(r.lines, tag); got != r.want {
				t.Errorf("%q: %v, want %v", r.lines, got, r.want)
			}
		}
	}
	if matches([]string{"*"}, "") {
		t.Error("what has no tag matches")
	}
	lines := []string{`W/"b", "c"`, `"d" , "a"`}
	if n := testing.AllocsPerRun(100, func() { matches(lines, `W/"a"`) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
