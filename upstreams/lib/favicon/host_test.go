package favicon

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

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
			"http://[::1", "\xff.example", "foo", "localhost", "http://db/",
		},
		true: {
			"127.0.0.1", "http://8.8.8.8/", "[::1]", "http://[2400:3200::1]/", "2400:3200::1", "::1", "2130706433", "0x7f000001", "0X7f.1", "127.1", "0177.0.0.1", "１２７.0.0.1", "127。0。0。1", "a.b.0x",
			"ftp://example.org", "file:///etc/passwd", "javascript://example.org", "://example.org",
			"http://user:geheim@example.org", "user@example.org", "https://@example.org", "example.org:22", "https://example.org:8080/", "example.org:0443",
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
