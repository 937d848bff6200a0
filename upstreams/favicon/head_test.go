package favicon

import (
	"bytes"
	"net/url"
	"slices"
	"testing"
)

func TestRank(t *testing.T) {
	want := []link{ // best first
		{"a", "32x32"}, {"b", "64X64"}, {"c", "48x48"}, {"d", "16x16"}, {"e", "512x512"}, {"f.png?v=1", "any"}, {"data:image/png;base64,x", ""},
		{"g.JPG", ""}, {"h.ico", "x"}, {"data:image/svg+xml,x", "1xx"}, {"i.png", "32x16"},
	}
	var hrefs []string
	for _, l := range want {
		hrefs = append(hrefs, l.href)
	}
	mixed := []link{want[10], want[8], want[5], want[4], want[6], want[9], want[7], want[3], want[1], want[2], want[0]}
	if got := ranked(mixed); !slices.Equal(got, hrefs[:maxTries]) {
		t.Errorf("%q", got)
	}
	if got := ranked(mixed[:7]); !slices.Equal(got, []string{"e", "f.png?v=1", "data:image/png;base64,x", "g.JPG", "h.ico"}) {
		t.Errorf("%q", got)
	}
	if r := (link{"a.png", "16x16 512x512 32x1 48x48"}).rank(); r != 3 {
		t.Errorf("best of many is %d", r)
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
		hrefs := ranked(h.links)
		if len(hrefs) > maxTries || len(h.links) > 0 && len(hrefs) == 0 {
			t.Errorf("%d of %d", len(hrefs), len(h.links))
		}
		for _, href := range hrefs {
			decodeData(href)
		}
	})
}
