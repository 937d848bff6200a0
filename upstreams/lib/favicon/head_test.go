package favicon

import (
	"bytes"
	"net/url"
	"slices"
	"testing"
)

func TestRank(t *testing.T) {
	want := []link{ // best first
		{href: "a", sizes: "32x32"}, {href: "b", sizes: "64X64"}, {href: "c", sizes: "48x48"}, {href: "d", sizes: "16x16"}, {href: "e", sizes: "512x512"}, {href: "f.png?v=1", sizes: "any"}, {href: "data:image/png;base64,x", sizes: ""},
		{href: "g.JPG", sizes: ""}, {href: "h.ico", sizes: "x"}, {href: "data:image/svg+xml,x", sizes: "1xx"}, {href: "i.png", sizes: "32x16"},
	}
	var hrefs []string
	for _, l := range want {
		hrefs = append(hrefs, l.href)
	}
	mixed := []link{want[10], want[8], want[5], want[4], want[6], want[9], want[7], want[3], want[1], want[2], want[0]}
	if got := ranked(mixed, 0); !slices.Equal(got, hrefs[:maxTries]) {
		t.Errorf("%q", got)
	}
	if got := ranked(mixed[:7], 0); !slices.Equal(got, []string{"e", "f.png?v=1", "data:image/png;base64,x", "g.JPG", "h.ico"}) {
		t.Errorf("%q", got)
	}
	if r := (link{href: "a.png", sizes: "16x16 512x512 32x1 48x48"}).rank(); r != 3 {
		t.Errorf("best of many is %d", r)
	}
}

func TestRankForASize(t *testing.T) {
	links := []link{
		{href: "16.png", sizes: "16x16"}, {href: "48.png", sizes: "32x32 48x48"}, {href: "192.png", sizes: "192x192"}, {href: "512.png", sizes: "512X512"},
		{rel: "apple-touch-icon", href: "touch.png"}, {href: "plain.ico"}, {href: "wide.png", sizes: "400x300"},
	}
	for size, want := range map[int][]string{
		0:   {"48.png", "192.png", "16.png", "512.png", "touch.png"},
		32:  {"48.png", "touch.png", "192.png", "512.png", "16.png"},
		128: {"touch.png", "192.png", "512.png", "48.png", "16.png"},
		192: {"192.png", "512.png", "touch.png", "48.png", "16.png"},
		512: {"512.png", "192.png", "touch.png", "48.png", "16.png"},
	} {
		if got := ranked(links, size); !slices.Equal(got, want) {
			t.Errorf("%d: %q, want %q", size, got, want)
		}
	}
	for _, any := range []link{{href: "a.svg"}, {href: "a", sizes: "any"}, {href: "data:image/svg+xml,x"}} {
		if got := ranked(append(links[:6:6], any), 64); got[0] != any.href {
			t.Errorf("%q", got)
		}
	}
}

func FuzzHead(f *testing.F) {
	f.Add([]byte(`<base href=x><link rel="icon" sizes="32x32" href='data:image/png;base64,AA=='></head>`))
	f.Add([]byte("\x1f\x8b<link rel=icon href=//[::>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := readHead(bytes.NewReader(b))
		if err != nil {
			return
		}
		page := &url.URL{Scheme: "https", Host: "a.example", Path: "/"}
		if base := h.baseURL(page); base.Scheme != "http" && base.Scheme != "https" {
			t.Errorf("base %s", base)
		}
		hrefs := ranked(h.links, len(b)%300)
		if len(hrefs) > maxTries || len(h.links) > 0 && len(hrefs) == 0 {
			t.Errorf("%d of %d", len(hrefs), len(h.links))
		}
		for _, href := range hrefs {
			decodeData(href)
		}
	})
}
