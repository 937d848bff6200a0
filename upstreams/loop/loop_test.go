package loop

import (
	"testing"
)

func TestMarkIsTheSameOnEveryInstance(t *testing.T) {
	a := NewID("", []string{"b.example.org", "a.example.org"}, "/tools")
	if b := NewID("", []string{"a.example.org", "b.example.org"}, "/tools"); a != b {
		t.Errorf("%s and %s of the same names", a, b)
	}
	for _, other := range []ID{NewID("", nil, "/tools"), NewID("", []string{"a.example.org", "b.example.org"}, ""), NewID("x", nil, "")} {
		if a == other {
			t.Errorf("%s for two services", a)
		}
	}
	if got := NewID("shop-1", []string{"a.example.org"}, ""); got != "sundry-shop-1" {
		t.Errorf("with an id: %s", got)
	}
}

func TestMarkIsRecognized(t *testing.T) {
	for _, r := range []struct {
		lines []string
		in    bool
		marks string // passed on to upstreams
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
		if got := ID("sundry-a").In(r.lines); got != r.in {
			t.Errorf("%q: in %v", r.lines, got)
		}
		if got := Marks(r.lines); got != r.marks {
			t.Errorf("%q: marks %q, want %q", r.lines, got, r.marks)
		}
	}
}
