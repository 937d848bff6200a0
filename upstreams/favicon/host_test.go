package favicon

import (
	"bytes"
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestMediaType(t *testing.T) {
	pad := strings.Repeat(" ", 80)
	bom := "\xef\xbb\xbf"
	rows := map[string]struct{ in, want string }{
		"ico":          {string(picture(icoMagic)), "image/x-icon"},
		"cursor":       {string(picture("\x00\x00\x02\x00")), ""},
		"png":          {string(picture(pngMagic)), "image/png"},
		"gif":          {string(picture("GIF89a")), "image/gif"},
		"jpeg":         {string(picture("\xff\xd8\xff\xe0")), "image/jpeg"},
		"webp":         {string(picture("RIFF\x10\x00\x00\x00WEBPVP8 ")), "image/webp"},
		"wave":         {string(picture("RIFF\x10\x00\x00\x00WAVEfmt ")), ""},
		"bmp":          {string(picture("BM\x10\x00\x00\x00")), "image/bmp"},
		"text":         {"BMW makes cars. " + pad, ""},
		"small":        {pngMagic + strings.Repeat("\x00", 51), ""},
		"smallest":     {pngMagic + strings.Repeat("\x00", 52), "image/png"},
		"svg":          {string(svg), "image/svg+xml"},
		"svg prolog":   {bom + "\n<?xml version='1.0' encoding=\"ISO-8859-1\"?>\n<!-- <html> -->\n<!DOCTYPE svg PUBLIC \"x\" \"y\" [<!ENTITY ns \"z>\">]>\n" + string(svg), "image/svg+xml"},
		"svg prefix":   {`<svg:svg xmlns:svg="http://www.w3.org/2000/svg">` + pad, "image/svg+xml"},
		"svg like":     {"<svgx>" + pad, ""},
		"svg in html":  {"<!DOCTYPE html><html><svg></svg>" + pad, ""},
		"svg in text":  {"see <svg></svg>" + pad, ""},
		"svg after it": {"<!-- x -->see <svg></svg>" + pad, ""},
		"large svg":    {string(svg) + strings.Repeat("x", maxSVG), ""},
		"html":         {"<!DOCTYPE html><html><head></head></html>" + pad, ""},
		"comment":      {"<!--" + strings.Repeat("-", 200), ""},
		"spaces":       {pad, ""},
		"empty":        {"", ""},
	}
	for name, r := range rows {
		if got := mediaType([]byte(r.in)); got != r.want {
			t.Errorf("%s is %q, want %q", name, got, r.want)
		}
	}
}

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

func TestDecodeData(t *testing.T) {
	for in, want := range map[string]string{
		"data:,a%20b":                             "a b",
		"DATA:image/svg+xml,<svg width='100%'>":   "<svg width='100%'>",
		"data:image/svg+xml;utf8,<a,b>":           "<a,b>",
		"data:image/png;base64,aGVs bG8=":         "hello",
		"data:image/png;charset=x;BASE64,aGVsbG8": "hello",
		"data:;base64,aGVsbG8%3D":                 "hello",
		"data:;base64,_-8":                        "\xff\xef",
		"data:;base64,!":                          "",
		"data:image/png":                          "",
		"data:":                                   "",
	} {
		if got := decodeData(in); string(got) != want {
			t.Errorf("%s is %q", in, got)
		}
	}
}

func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"example.org":                            "example.org",
		" Example.ORG. ":                         "example.org",
		"https://example.org/a/b?c=http://d.e#f": "example.org",
		"HTTP://example.org:80":                  "example.org",
		"example.org:443/path":                   "example.org",
		"example.org?x=://":                      "example.org",
		"//example.org/x":                        "example.org",
		"例子.测试":                                  "xn--fsqu00a.xn--0zwm56d",
		"https://Bücher.example/路":               "xn--bcher-kva.example",
		"例子。测试":                                  "xn--fsqu00a.xn--0zwm56d",
		"r3---sn-x.example":                      "r3---sn-x.example",
		"my_shop.example":                        "my_shop.example",
		"4chan.example":                          "4chan.example",
		strings.Repeat("a", 63) + ".example":     strings.Repeat("a", 63) + ".example",
	} {
		if got, err := Host(in); err != nil || got != want {
			t.Errorf("%s: %q %v", in, got, err)
		}
	}
}

func TestHostRefuses(t *testing.T) {
	rows := map[bool][]string{
		false: {
			"", ".", "/", "https://", "http:///x", "a..b", "-a.example", "a-.example", "a b.example", "a%20.example",
			"example.org..", "example.org:x", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "example", "xn--a.example", "exam!ple.org", "a\nb.example", "https://" + strings.Repeat("a", maxInput),
			"http://[::1", "\xff.example",
		},
		true: {
			"127.0.0.1", "http://8.8.8.8/", "[::1]", "http://[2400:3200::1]/", "2400:3200::1", "::1", "2130706433", "0x7f000001", "0X7f.1", "127.1", "0177.0.0.1", "１２７.0.0.1", "127。0。0。1", "a.b.0x",
			"ftp://example.org", "file:///etc/passwd", "javascript://example.org", "://example.org",
			"localhost", "http://db/", "http://user:geheim@example.org", "user@example.org", "https://@example.org", "example.org:22", "https://example.org:8080/", "example.org:0443",
		},
	}
	for forbidden, inputs := range rows {
		for _, in := range inputs {
			got, err := Host(in)
			if err == nil || errors.Is(err, ErrForbidden) != forbidden {
				t.Errorf("%.60q: %q %v", in, got, err)
				continue
			}
			if !strings.Contains(err.Error(), "example.org") || strings.Contains(err.Error(), "geheim") {
				t.Errorf("%.60q: unhelpful: %v", in, err)
			}
		}
	}
}

func FuzzHost(f *testing.F) {
	for _, s := range []string{"例子.测试:443/x", "http://a:b@c.d", "[::1]", "0x7f.1", "//a.b?c", "１２７.0.0.1", "a_b--c.d.", "xn--fsqu00a.com"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		host, err := Host(raw)
		if err != nil {
			return
		}
		if again, err := Host(host); err != nil || again != host {
			t.Errorf("%q is %q, again %q %v", raw, host, again, err)
		}
		if len(host) > 253 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || !strings.Contains(host, ".") {
			t.Errorf("%q became %q", raw, host)
		}
		if _, err := netip.ParseAddr(host); err == nil {
			t.Errorf("%q became the address %s", raw, host)
		}
		if u, err := url.Parse("https://" + host + "/"); err != nil || u.Host != host {
			t.Errorf("%q became %q, which is not a host: %v", raw, host, err)
		}
	})
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

func FuzzMediaType(f *testing.F) {
	f.Add(svg)
	f.Add([]byte("<?xml version='1.0' encoding='gbk'?><!DOCTYPE svg [<!ENTITY a 'b'>]><!--x--><svg>                          "))
	f.Fuzz(func(t *testing.T, b []byte) {
		kind := mediaType(b)
		if kind == "image/svg+xml" && !bytes.Contains(b, []byte("svg")) || kind != "" && len(b) < minIcon {
			t.Errorf("%q is %s", b, kind)
		}
		if bytes.HasPrefix(b, []byte("<html")) && kind != "" {
			t.Errorf("%q is %s", b, kind)
		}
	})
}
