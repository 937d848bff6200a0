package web

import (
	"testing"
)

func TestWantedRange(t *testing.T) {
	for line, want := range map[string]string{ // of ten bytes; "": the whole, "-": nothing of it
		"bytes=0-0": "bytes 0-0/10", "bytes=2-5": "bytes 2-5/10", "bytes=2-": "bytes 2-9/10", "bytes=-3": "bytes 7-9/10", "bytes=-30": "bytes 0-9/10",
		"bytes=8-20": "bytes 8-9/10", "bytes=10-": "-", "bytes=-0": "-", "bytes=5-2": "", "bytes=a-b": "", "bytes=0-1,3-4": "", "items=0-1": "",
		"bytes=": "", "bytes=-": "", "bytes=+1-2": "", "bytes=99999999999999999999-": "",
	} {
		w, ok := WantedRange(fields("Range: " + line))
		got := ""
		if ok {
			if r, has := w.Of(10); has {
				got = r.ContentRange(10)
			} else {
				got = "-"
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
	if _, ok := WantedRange(fields("Range: bytes=0-0", "Range: bytes=0-1")); ok {
		t.Error("two lines")
	}
}

func TestPartsThatAreStored(t *testing.T) {
	for _, row := range []struct {
		contentRange string
		length       int64
		wanted, want string
	}{
		{"bytes 4-8/10", 5, "bytes=6-8", "bytes 6-8/10"},
		{"bytes 4-8/10", 5, "bytes=4-", ""},
		{"bytes 4-8/10", 5, "bytes=-2", ""},
		{"bytes 4-8/10", 5, "bytes=3-5", ""},
		{"bytes 4-8/10", 5, "bytes=7-9", ""},
		{"bytes 4-8/*", 5, "bytes=5-6", "bytes 5-6/*"},
		{"bytes 4-8/*", 5, "bytes=5-", ""},
		{"bytes 5-9/10", 5, "bytes=6-", "bytes 6-9/10"},
		{"bytes 5-9/10", 5, "bytes=-2", "bytes 8-9/10"},
		{"bytes 5-9/10", 5, "bytes=-6", ""},
		{"bytes 5-9/10", 5, "bytes=6-100", "bytes 6-9/10"},
		{"bytes 4-9/10", 5, "bytes=6-", "bytes 6-8/10"}, // came one byte short
		{"bytes 4-9/10", 5, "bytes=-1", "bytes 8-8/10"},
		{"bytes 8-4/10", 5, "bytes=8-8", ""},
		{"bytes 8-12/10", 5, "bytes=8-8", ""},
		{"bytes 0-4/x", 5, "bytes=0-0", ""},
		{"items 0-4/10", 5, "bytes=0-0", ""},
		{"", 5, "bytes=0-0", ""},
		{"bytes 0-4/10", 0, "bytes=0-0", ""},
	} {
		got := ""
		if p, ok := StoredPart(fields("Content-Range: "+row.contentRange), row.length); ok {
			w, _ := WantedRange(fields("Range: " + row.wanted))
			if r, holds := p.Holds(w); holds {
				got = r.ContentRange(p.Total)
			}
		}
		if got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}

func TestContinues(t *testing.T) {
	for _, row := range []struct {
		prefix, next string
		want         bool
	}{
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 5-9/10", true},
		{"Etag: \"a\"", "Etag: \"b\"|Content-Range: bytes 5-9/10", false},
		{"Etag: W/\"a\"", "Etag: W/\"a\"|Content-Range: bytes 5-9/10", false},
		{"X: 1", "Content-Range: bytes 5-9/10", false},
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 6-9/10", false},
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 5-8/10", false},
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 5-10/11", false},
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 5-9/*", false},
		{"Etag: \"a\"", "Etag: \"a\"|Content-Range: bytes 5-9", false},
	} {
		if got := Continues(fields(split(row.prefix)...).Get("Etag"), Range{5, -1}, 10, fields(split(row.next)...)); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
	next := fields("Etag: \"a\"", "Content-Range: bytes 5-7/10")
	if !Continues(`"a"`, Range{5, 7}, -1, next) || Continues(`"a"`, Range{5, 6}, -1, next) || Continues(`"a"`, Range{5, 8}, 10, next) {
		t.Error("a range that ends before the whole")
	}
}

func TestIfRange(t *testing.T) {
	stored := fields("Etag: \"a\"", "Last-Modified: {-9}")
	for line, want := range map[string]bool{
		"X: 1": true, "If-Range: \"a\"": true, "If-Range: \"b\"": false, "If-Range: W/\"a\"": false, "If-Range: {-9}": true, "If-Range: {-8}": false,
	} {
		if IfRange(fields(line), stored) != want {
			t.Error(line)
		}
	}
}
