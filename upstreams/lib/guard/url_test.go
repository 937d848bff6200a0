package guard

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestCheckURL(t *testing.T) {
	g := New(Config{})
	for in, want := range map[string]string{
		"http://example.org":                        "http://example.org",
		"HTTPS://Example.ORG.:443/A?b=c#d":          "https://example.org/A?b=c#d",
		"http://example.org:80/":                    "http://example.org/",
		"http://example.org:/":                      "http://example.org/",
		"https://example.org:80/":                   "https://example.org:80/",
		"http://example.org:0443/":                  "http://example.org:443/",
		"http://example.org:8080/":                  "http://example.org:8080/",
		"https://例子.测试/路":                           "https://xn--fsqu00a.xn--0zwm56d/%E8%B7%AF",
		"http://8.8.8.8/":                           "http://8.8.8.8/",
		"http://[2400:3200:0::1]:8443/":             "http://[2400:3200::1]:8443/",
		"http://[2400:3200::1]:80":                  "http://[2400:3200::1]",
		"https://example.org/?u=http://127.0.0.1/@": "https://example.org/?u=http://127.0.0.1/@",
	} {
		if u, err := g.CheckURL(in); err != nil || u.String() != want {
			t.Errorf("%s: %v %v, want %s", in, u, err, want)
		}
	}
}

func TestCheckURLRefuses(t *testing.T) {
	g := New(Config{})
	urls := []string{
		"", "/", "example.org", "//example.org/", "http:", "http:///", "http:example.org", "http://:80/", "http:/example.org", "http://[]/", " http://example.org/",
		"ftp://example.org/", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)", "data:,x", "unix:///run/x", "h2c://example.org/",
		"http://a@example.org/", "http://a:geheim@example.org/", "http://@example.org/", `http://example.org\@127.0.0.1/`, "http://example.org@127.0.0.1/",
		"http://example.org:22/", "http://example.org:6379/", "http://example.org:0/", "http://example.org:65616/", "http://example.org:-80/", "http://example.org:80:80/",
		"http://%31%32%37.0.0.1/", "http://127.0.0.1%00.example.org/", "http://exa mple.org/", "http://example.org\r\nX: y/", "http://[fe80::1%25eth0]/",
		"http://localhost/", "http://LocalHost./", "http://a.localhost:8080/", "http://db.internal/", "http://printer.local/", "http://router.lan/",
		"http://example.org:" + strings.Repeat("0", maxURL) + "80/", "http://example.org/" + strings.Repeat("a", maxURL), "http://example.org/" + strings.Repeat("路", maxURL/4),
	}
	for _, addresses := range forbiddenAddresses() {
		for _, a := range addresses {
			urls = append(urls, "http://"+strings.TrimSuffix(net.JoinHostPort(a, ""), ":")+"/")
		}
	}
	for _, host := range ambiguousAddresses() {
		urls = append(urls, "https://"+host+"/")
	}
	for _, in := range urls {
		u, err := g.CheckURL(in)
		if err == nil {
			t.Errorf("%.80q was accepted as %s", in, u)
			continue
		}
		if strings.Contains(err.Error(), "geheim") {
			t.Errorf("credentials are shown: %v", err)
		}
		if _, ok := errors.AsType[*ForbiddenError](err); !ok {
			t.Errorf("%.80q: %T", in, err)
		}
	}
}

func TestCheckURLWithAllowedRangesAndPorts(t *testing.T) {
	g := New(Config{Allow: loopback(), Web: func(p uint16) bool { return p == 81 }})
	for in, want := range map[string]bool{
		"http://127.0.0.1:81/": true, "http://127.0.0.1/": true, "http://127.0.0.2:81/": false, "http://[::ffff:127.0.0.1]:81/": false, "http://localhost:81/": false,
		"http://8.8.8.8:81/": true, "http://8.8.8.8/": false, "http://wiki.corp:82/": true, "http://127.0.0.1:99999/": false,
	} {
		if _, err := g.CheckURL(in); (err == nil) != want {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// FuzzCheckURL checks accepted URLs by an independent parsing of their hosts.
func FuzzCheckURL(f *testing.F) {
	for _, s := range ambiguousAddresses() {
		f.Add("http://" + s + "/")
	}
	for _, s := range []string{
		"https://example.org:8443/a?b#c", "http://a:b@c/", "http://[::1]:80/", "http://[2400:3200::1]/", "http://例子.测试/路", "HTTP://8.8.8.8:0080", "http:x", "http://%E4%BE%8B.org",
		`http://a\@b/`, "http://169.254.169.254/latest", "http://[::ffff:10.0.0.1]/", "http://2001:db8::1/",
	} {
		f.Add(s)
	}
	g := New(Config{})
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := g.CheckURL(raw)
		if err != nil {
			return
		}
		sent := u.String()
		if len(sent) > maxURL || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			t.Errorf("%q became %q", raw, sent)
		}
		for _, reading := range readings(sent) {
			if !Public(reading) {
				t.Errorf("%q became %q, which is %s", raw, sent, reading)
			}
		}
		if again, err := g.CheckURL(sent); err != nil || again.String() != sent {
			t.Errorf("%q is not stable: %v %v", sent, again, err)
		}
	})
}

// readings are the addresses that any parser could see in a URL's host.
func readings(raw string) (out []netip.Addr) {
	u, err := url.Parse(raw)
	if err != nil {
		return []netip.Addr{{}} // not even a URL: not public either
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil {
		out = append(out, a)
	}
	if a, ok := aton(u.Hostname()); ok {
		out = append(out, a)
	}
	return out
}
