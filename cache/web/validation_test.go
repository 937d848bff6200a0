package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNotModified(t *testing.T) {
	for _, row := range []struct {
		stored, request string
		want            bool
	}{
		{"Etag: \"a\"", "If-None-Match: \"a\"", true},
		{"Etag: \"a\"", "If-None-Match: W/\"a\"", true},
		{"Etag: W/\"a\"", "If-None-Match: \"a\"", true},
		{"Etag: \"a\"", "If-None-Match: \"b\", \"a\"", true},
		{"Etag: \"a\"", "If-None-Match: *", true},
		{"Etag: \"a\"", "If-None-Match: \"b\"", false},
		{"Etag: \"a,b\"", "If-None-Match: \"a,b\"", true},
		{"", "If-None-Match: \"a\"", false},
		{"Etag: \"a\"|Last-Modified: {-100}", "If-None-Match: \"b\"|If-Modified-Since: {0}", false},
		{"Last-Modified: {-100}", "If-Modified-Since: {-100}", true},
		{"Last-Modified: {-100}", "If-Modified-Since: {0}", true},
		{"Last-Modified: {-100}", "If-Modified-Since: {-101}", false},
		{"Date: {-100}", "If-Modified-Since: {-100}", true},
		{"Date: {-100}", "If-Modified-Since: {-101}", false},
		{"Last-Modified: {-100}", "If-Modified-Since: soon", false},
		{"Last-Modified: {-100}", "", false},
	} {
		if got := NotModified(fields(split(row.request)...), received(200, split(row.stored)...)); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

func TestValidatorsOfARequest(t *testing.T) {
	h := fields("If-None-Match: \"caller\"", "If-Modified-Since: {0}", "Range: bytes=1-2", "If-Range: \"x\"", "X-A: 1")
	AddValidators(h, fields("Etag: \"a\"", "Last-Modified: {-100}"), nil)
	if diff := cmp.Diff(fields("If-None-Match: \"a\"", "If-Modified-Since: {-100}", "X-A: 1"), h); diff != "" {
		t.Error(diff)
	}
	AddValidators(h, nil, []string{`"a"`, `W/"b"`})
	if diff := cmp.Diff(fields("If-None-Match: \"a\", W/\"b\"", "X-A: 1"), h); diff != "" {
		t.Error(diff)
	}
}

func TestUpdated(t *testing.T) {
	stored := fields("Age: 7", "A: 1", "B: 1", "Set-Cookie: other", "Content-Length: 5", "Content-Type: text/plain", "Content-Encoding: gzip")
	got := Updated(stored, fields("A: 2", "C: 3", "Content-Length: 0", "Content-Type: x/y", "Content-Encoding: br", "Content-Range: x", "Age: 1"))
	weak := fields("Etag: W/\"a\"", "Content-Encoding: gzip")
	if tag := Updated(weak, fields("Etag: \"a\"")).Get("Etag"); tag != `W/"a"` {
		t.Errorf("%s of what was compressed on its way", tag)
	}
	if tag := Updated(weak, fields("Etag: W/\"b\"")).Get("Etag"); tag != `W/"b"` {
		t.Errorf("%s, but the origin says another one", tag)
	}
	want := fields("Age: 1", "A: 2", "B: 1", "C: 3", "Content-Length: 5", "Content-Type: text/plain", "Content-Encoding: gzip")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if stored.Get("A") != "1" {
		t.Error("the stored header was changed")
	}
}

// TestA304TakesNothingOutOfVary: that of Apache has no Accept-Encoding where the response has, which is compressed after it was chosen.
func TestA304TakesNothingOutOfVary(t *testing.T) {
	for _, row := range []struct{ stored, now, want string }{
		{"Vary: negotiate,Accept-Encoding", "Vary: negotiate", "Vary: negotiate|Vary: Accept-Encoding"},
		{"Vary: Accept-Encoding", "", "Vary: Accept-Encoding"},
		{"Vary: Accept-Encoding", "Vary: Cookie", "Vary: Cookie|Vary: Accept-Encoding"},
		{"Vary: Accept-Encoding|Vary: Cookie", "Vary: cookie", "Vary: cookie|Vary: Accept-Encoding"},
		{"", "Vary: Cookie", "Vary: Cookie"},
	} {
		if diff := cmp.Diff(fields(split(row.want)...), Updated(fields(split(row.stored)...), fields(split(row.now)...))); diff != "" {
			t.Error(diff)
		}
	}
}

func TestSameRepresentation(t *testing.T) {
	for _, row := range []struct {
		now, stored string
		want        bool
	}{
		{"Etag: \"a\"", "Etag: \"a\"", true}, {"Etag: \"b\"", "Etag: \"a\"", false}, {"", "Etag: \"a\"", true}, {"Etag: W/\"b\"", "Etag: \"a\"", true},
	} {
		if got := SameRepresentation(fields(split(row.now)...), fields(split(row.stored)...)); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}

func TestHeadAgrees(t *testing.T) {
	stored := fields("Etag: \"a\"", "Content-Length: 5", "Last-Modified: {-9}")
	for line, want := range map[string]bool{"A: 1": true, "Etag: \"a\"": true, "Etag: \"b\"": false, "Content-Length: 6": false, "Last-Modified: {-8}": false} {
		if HeadAgrees(fields(line), stored) != want {
			t.Error(line)
		}
	}
}
