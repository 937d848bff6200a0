package upstreams

import (
	"net/http"
	"testing"

	"sundry/upstreams/loop"
)

func TestLoopMark(t *testing.T) {
	a := loop.NewMark("", []string{"b.example.org", "a.example.org"}, "/tools")
	if b := loop.NewMark("", []string{"a.example.org", "b.example.org"}, "/tools"); a != b {
		t.Errorf("%s and %s of the same names", a, b)
	}
	for _, other := range []loop.Mark{loop.NewMark("", nil, "/tools"), loop.NewMark("", []string{"a.example.org", "b.example.org"}, ""), loop.NewMark("x", nil, "")} {
		if a == other {
			t.Errorf("%s for two services", a)
		}
	}
	if got := loop.NewMark("shop-1", []string{"a.example.org"}, ""); got != "sundry-shop-1" {
		t.Errorf("with an id: %s", got)
	}
}

func TestLoopMarkIsRecognised(t *testing.T) {
	for _, r := range []struct {
		lines []string
		borne bool
		known string // what is passed on
	}{
		{nil, false, ""},
		{[]string{""}, false, ""},
		{[]string{"sundry-a"}, true, "sundry-a"},
		{[]string{"cloudflare; loops=1, SUNDRY-A ; v=2"}, true, ""},
		{[]string{"cloudflare", "x, sundry-b;a=\"b\",sundry-a"}, true, "sundry-b, sundry-a"},
		{[]string{"sundry-ab, sundry, notsundry-a, sundry-a.b"}, false, "sundry-ab, sundry-a.b"},
		{[]string{"sundry-, sundry-ä, sundry-a b, sundry-\"a\""}, false, ""},
		{[]string{"sundry-1,sundry-2,sundry-3,sundry-4,sundry-5,sundry-6,sundry-7,sundry-8,sundry-9,sundry-a"}, true,
			"sundry-1, sundry-2, sundry-3, sundry-4, sundry-5, sundry-6, sundry-7, sundry-8"},
	} {
		if got := loop.Mark("sundry-a").Borne(r.lines); got != r.borne {
			t.Errorf("%q: borne %v", r.lines, got)
		}
		if got := loop.Of(r.lines); got != r.known {
			t.Errorf("%q: known %q, want %q", r.lines, got, r.known)
		}
	}
}

func TestRequestsBearTheMark(t *testing.T) {
	for loop, want := range map[string]string{"": "sundry-a", "sundry-b": "sundry-b, sundry-a"} {
		h := http.Header{}
		(&input{call: &Call{Loop: loop}, mark: "sundry-a"}).bear(h)
		if got := h.Get("CDN-Loop"); got != want {
			t.Errorf("after %q: %q, want %q", loop, got, want)
		}
	}
	h := http.Header{}
	if (&input{call: &Call{}}).bear(h); len(h) != 0 {
		t.Errorf("without a mark: %v", h)
	}
}
