package web

import (
	"strings"
	"testing"
)

func TestSelectingKey(t *testing.T) {
	names := Selecting(fields("Vary: accept-language, X-A", "Vary: x-a, User-Agent"), []string{"User-Agent"})
	if len(names) != 2 || names[0] != "Accept-Language" || names[1] != "X-A" {
		t.Fatalf("%v", names)
	}
	for _, row := range []struct {
		one, other string
		same       bool
	}{
		{"", "", true},
		{"X-A: 1", "X-A: 1", true},
		{"X-A: 1", "X-A: 2", false},
		{"X-A: ", "", false},
		{"X-A: 1, 2", "X-A: 1,2", true},
		{"X-A: 1, 2", "X-A: 1|X-A: 2", true},
		{"X-A: \"1, 2\"", "X-A: \"1,2\"", false},
		{"X-A: A", "X-A: a", false},
		{"Accept-Language: EN, de", "Accept-Language: de,en", true},
		{"Accept-Language: de;q=0.5, en", "Accept-Language: en, de;q=0.500", true},
		{"Accept-Language: de;q=1, en;q=0.5", "Accept-Language: de, en;q=0.5", true},
		{"Accept-Language: de, en;q=0.5", "Accept-Language: en, de;q=0.5", false},
		{"X-B: 1", "X-B: 2", true},
	} {
		one, other := SelectingKey(fields(split(row.one)...), names), SelectingKey(fields(split(row.other)...), names)
		if (one == other) != row.same {
			t.Errorf("%q and %q: %q %q", row.one, row.other, one, other)
		}
	}
}

// TestCodingsVary also where the origin does not say so, as nginx does not without gzip_vary.
func TestCodingsVary(t *testing.T) {
	for _, row := range []struct{ response, ignored, want string }{
		{"Content-Encoding: gzip", "", "Accept-Encoding"},
		{"Content-Encoding: gzip|Vary: X-A, accept-encoding", "", "Accept-Encoding,X-A"},
		{"Content-Encoding: gzip", "Accept-Encoding", ""},
		{"", "", ""},
	} {
		if got := strings.Join(Selecting(fields(split(row.response)...), []string{row.ignored}), ","); got != row.want {
			t.Errorf("%s: %q, want %q", row.response, got, row.want)
		}
	}
}

func TestInLanguage(t *testing.T) {
	names := []string{"Accept-Language", "X-A"}
	for _, row := range []struct {
		response, request, selected string
		want                        bool
	}{
		{"Content-Language: de", "Accept-Language: de, en;q=0.5", "Accept-Language: de", true},
		{"Content-Language: de", "Accept-Language: en, de;q=0.5", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: en, de", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: *", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: de|X-A: 1", "Accept-Language: de", false},
		{"", "Accept-Language: de", "Accept-Language: de, en", false},
	} {
		if got := InLanguage(fields(split(row.response)...), fields(split(row.request)...), fields(split(row.selected)...), names); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
	if InLanguage(fields("Content-Language: de"), fields("Accept-Language: de"), fields(), []string{"X-A"}) {
		t.Error("a response that does not vary by language")
	}
}
