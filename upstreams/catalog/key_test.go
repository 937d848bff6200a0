package catalog

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/replay"
)

var caller = netip.MustParseAddr("198.51.100.7")

func TestKeys(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	key := func(endpoint, query string) string {
		e, _ := c.Get(endpoint)
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		return in.Key()
	}
	same := [][3]string{
		{"wpcat", "", "n=26"}, {"wpcat", "n=6&type=text", "type=json&n=6&x=1"}, {"wpcat", "n=06", "n=6"}, {"wpcat", "p=1", ""},
		{"ip", "", "ip=198.51.100.7"}, {"ip", "ip=2001:DB8::1", "ip=2001:db8:0::1"}, {"ip", "ip=::ffff:8.8.8.8", "ip=8.8.8.8&callback=x"},
		{"gamestatus", "host=MC.example.org", "host=mc.example.org.:25565"}, {"qrcode", "text=a%20b&size=0300", "text=a+b&size=300"}, {"qrcode", "text=中", "text=%E4%B8%AD"},
		{"favicon", "url=example.com&size=65", "url=example.com&size=128"}, {"favicon", "url=example.com&size=16", "url=example.com&size=016"},
	}
	for _, r := range same {
		if a, b := key(r[0], r[1]), key(r[0], r[2]); a != b {
			t.Errorf("%s: %q gives %q, %q gives %q", r[0], r[1], a, r[2], b)
		}
	}
	different := [][3]string{
		{"wpcat", "n=1", "n=2"}, {"wpcat", "n=1&p=1", "n=1&p=2"}, {"60s", "", "type=image"}, {"ip", "ip=8.8.8.8", "ip=8.8.4.4"},
		{"gamestatus", "host=a.org", "host=a.org:25566"}, {"qrcode", "text=a", "text=b"}, {"qrcode", "text=a&size=100", "text=a&size=101"}, {"qrcode", "text=a", "text=a&type=svg"},
		{"qrcode", "text=a%7C300", "text=a"},
		{"favicon", "url=example.com&size=64", "url=example.com&size=65"}, {"favicon", "url=example.com&size=512", "url=example.com&size=256"},
	}
	for _, r := range different {
		if a, b := key(r[0], r[1]), key(r[0], r[2]); a == b {
			t.Errorf("%s: %q and %q share the key %q", r[0], r[1], r[2], a)
		}
	}
	for _, k := range []string{key("ip", "ip=8.8.8.8"), key("avatar", "uid=10001"), key("qrcode", "text=secret")} {
		if strings.Contains(k, "8.8") || strings.Contains(k, "10001") || strings.Contains(k, "secret") {
			t.Errorf("a personal value stands in the key %q", k)
		}
	}
	for query, host := range map[string]string{
		"url=https://t.cn/token": "=t.cn#", "url=http://t.cn:8080?k=token": "=t.cn:8080#", "url=https://" + strings.Repeat("a.", 40) + "example/token": ":#",
	} {
		if k := key("dwzrec", query); strings.Contains(k, "token") || !strings.Contains(k, host) {
			t.Errorf("dwzrec?%s: the key %q; want %s and nothing of the rest", query, k, host)
		}
	}
	if k := key("vidparse", "url=https://v.douyin.com/token/"); strings.Contains(k, "token") || !strings.Contains(k, "=v.douyin.com#") {
		t.Errorf("vidparse: the key %q", k)
	}
	if a, b := key("dwzrec", "url=https://t.cn/a"), key("dwzrec", "url=https://t.cn/b"); a == b {
		t.Errorf("two links share the key %q", a)
	}
	if k := key("favicon", "url=https://example.org/token?token"); !strings.HasSuffix(k, ":=example.org|-|=404|") {
		t.Errorf("favicon: the key %q", k)
	}
	if k := key("gamestatus", "host="+strings.Repeat("a", 60)+".example.org"); len(k) > 120 {
		t.Errorf("a long value makes a key of %d bytes", len(k))
	}
}

func TestEachDayHasItsOwnKey(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	e, _ := c.Get("lishi")
	key := func(query, at string) string {
		now, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		in, bad := e.ParseAt(query, Caller{Addr: caller}, func() time.Time { return now })
		if bad != nil {
			t.Fatal(bad)
		}
		return in.Key()
	}
	morning := key("", "2028-02-29T00:00:00+08:00")
	if morning != key("day=01-01&type=text", "2028-02-28T16:00:00Z") || morning != key("", "2032-02-29T23:59:59+08:00") {
		t.Error("a day of Asia/Shanghai has two keys")
	}
	if morning == key("", "2028-02-28T23:59:59+08:00") || morning == key("", "2028-03-01T00:00:00+08:00") {
		t.Error("two days share a key")
	}
}

// TestPersonalLinksAreHashedWhole: of other links, keys show the host.
func TestPersonalLinksAreHashedWhole(t *testing.T) {
	for _, personal := range []bool{false, true} {
		e := &Endpoint{Params: []*Param{{Name: "url", link: true, Personal: personal}}}
		in := Input{Endpoint: e, Form: &Form{Chain: &Chain{prefix: "x:1:main"}}}
		in.values[0] = "https://private.example/page"
		if key := in.Key(); strings.Contains(key, "private.example") == personal {
			t.Errorf("personal %v: %s", personal, key)
		}
	}
}
