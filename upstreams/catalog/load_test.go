package catalog

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
)

// whole is a file without a mistake; rows replace a part of it.
const whole = `version: 1
name: whole
group: text
summary: {en: Whole., zh: 完整}
params:
  - {name: n, type: int, min: 1, max: 9, default: "3", example: "4"}
  - {name: type, role: form, example: text}
cache: {class: shared, ttl: 1h}
forms:
  - {name: json, json: .}
  - {name: text, text: '"text"'}
sources:
  - name: made
    computed: {}
    map: '{n: $params.n}'
`

func loadText(t *testing.T, name, text string) (*Catalog, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(Options{Dir: dir}, testEnvironment(t, nil))
}

func TestMistakesOfAFile(t *testing.T) {
	if _, err := loadText(t, "whole", whole); err != nil {
		t.Fatal(err)
	}
	rows := []struct{ replace, by, want string }{
		{"version: 1", "version: 2", "whole.yaml:1: version: 2: this program reads version 1"},
		{"name: whole", "name: other", "whole.yaml:2: name: \"other\": want the file's name"},
		{"group: text", "group: fun", "whole.yaml:3: group: \"fun\""},
		{", zh: 完整", "", "summary: want both en and zh"},
		{"{name: n,", "{name: N,", "whole.yaml:6: param \"N\": want a name of small letters"},
		{"type: int, min: 1, max: 9", "type: int", "whole.yaml:6: param n: an int wants min and max"},
		{"type: int,", "type: float,", "whole.yaml:6: param n: type: \"float\""},
		{`default: "3"`, `default: "10"`, `whole.yaml:6: param n: default "10" is out of range`},
		{`, example: "4"`, "", "whole.yaml:6: param n: no example"},
		{`example: "4"`, `example: "x"`, `whole.yaml:6: param n: example "x" is not a whole number`},
		{"role: form", "role: shape", "whole.yaml:7: param type: role: \"shape\""},
		{"role: form", "role: form, as: {x: nope}", "whole.yaml:7: param type: as: x: no form \"nope\""},
		{"name: type, role", "name: n, role", "whole.yaml:7: param n: twice"},
		{"class: shared", "class: big", "whole.yaml:8: cache: class: \"big\""},
		{"ttl: 1h", "ttl: 1 hour", "whole.yaml:8:"},
		{"ttl: 1h", "ttl: -1h", "whole.yaml:8:"},
		{"ttl: 1h", "jitter: 0.9", "cache: jitter: 0.9: want a share from 0 to 0.5"},
		{"ttl: 1h", "until: noon", "whole.yaml:8: cache: until:"},
		{"ttl: 1h", "tll: 1h", "whole.yaml:8: field tll not found"},
		{"json: .}", "json: '.x |'}", "whole.yaml:10: jq: unexpected EOF"},
		{"json: .}", "json: ., text: .}", "whole.yaml:10: form \"json\": want exactly one"},
		{"name: text, text", "name: json, text", "whole.yaml:11: form \"json\": twice"},
		{"name: text, text", "chain: away, name: text, text", "whole.yaml:11: form text: no chain \"away\""},
		{"computed: {}", "computed: {x: 1}", "whole.yaml:14: field x not found"},
		{"$params.n", "$param.n", "whole.yaml:15: jq: variable not defined: $param"},
		{"sources:", "chains: {spare: {sources: [{name: s, computed: {}}]}}\nsources:", "chain spare: no form uses it"},
		{"sources:", "chains: {x: {like: nope, picture: {url: .u, hosts: [a.b]}}}\nsources:", "chain x: like: \"nope\""},
		{"  - name: made", "  - {name: made, computed: {}}\n  - name: made", "source \"made\": twice"},
		{"  - name: made", "  - {name: first, last_resort: true, computed: {}}\n  - name: made", "whole.yaml:14: source \"made\": behind a last resort; want the last resorts at the end"},
		{"computed: {}", "before: [{name: key, shared: true, http: {url: 'http://a.example.org/'}}]\n    computed: {}", "whole.yaml:14: step key: shared: without for: nothing is kept"},
		{"version: 1", "version: 1\nversion: 1", "whole.yaml:2"},
		{"version: 1", "version: [", "whole.yaml:"},
	}
	for _, r := range rows {
		if !strings.Contains(whole, r.replace) {
			t.Fatalf("nothing to replace: %s", r.replace)
		}
		_, err := loadText(t, "whole", strings.Replace(whole, r.replace, r.by, 1))
		var m Mistake
		if err == nil || !errors.As(err, &m) || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s → %s:\n%v\nwant %s", r.replace, r.by, err, r.want)
		}
	}
}

func TestOverridingDirectory(t *testing.T) {
	c, err := loadText(t, "yiyan", strings.ReplaceAll(whole, "whole", "yiyan"))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Get("yiyan")
	if !ok || e.EN != "Whole." || len(c.Endpoints) != len(mustLoad(t, nil).Endpoints) {
		t.Errorf("%+v, %d endpoints", e, len(c.Endpoints))
	}
	if _, err := Load(Options{Dir: "/does/not/exist"}, testEnvironment(t, nil)); err == nil {
		t.Error("a directory that is not there was read")
	}
}

var caller = netip.MustParseAddr("198.51.100.7")

func TestKeys(t *testing.T) {
	c := mustLoad(t, upstreams.NewReplay(nil))
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
		{"gamestatus", "host=MC.example.org", "host=mc.example.org.:25565"}, {"qrcode", "text=a%20b", "text=a+b&size=300"}, {"qrcode", "text=中", "text=%E4%B8%AD"},
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
	if k := key("favicon", "url=https://example.org/token?token"); !strings.HasSuffix(k, ":=example.org|") {
		t.Errorf("favicon: the key %q", k)
	}
	if k := key("gamestatus", "host="+strings.Repeat("a", 60)+".example.org"); len(k) > 120 {
		t.Errorf("a long value makes a key of %d bytes", len(k))
	}
}

func TestEachDayHasItsOwnKey(t *testing.T) {
	c := mustLoad(t, upstreams.NewReplay(nil))
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

func TestRefusalsDoNotRepeatWhatIsPersonal(t *testing.T) {
	c := mustLoad(t, upstreams.NewReplay(nil))
	for endpoint, query := range map[string]string{"avatar": "uid=99", "ip": "ip=10.1.2.3.4"} {
		e, _ := c.Get(endpoint)
		_, bad := e.Parse(query, Caller{Addr: caller})
		if bad == nil || strings.Contains(bad.Message, "99") || strings.Contains(bad.Message, "10.1.2") {
			t.Errorf("%s: %v", endpoint, bad)
		}
	}
}

func TestEmbeddedQuotes(t *testing.T) {
	c := mustLoad(t, nil)
	e, _ := c.Get("yiyan")
	sources := e.Sources()
	last := sources[len(sources)-1]
	a, err := upstreams.NewChain("yiyan", []*upstreams.Source{last}, true, e.env).Do(t.Context(), &upstreams.Call{Endpoint: "yiyan", Now: time.Now()}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	quotes := a.Data.([]any)
	seen := map[string]bool{}
	for _, q := range quotes {
		m := q.(map[string]any)
		text := m["text"].(string)
		if seen[text] || len([]rune(text)) < 4 || len([]rune(text)) > 80 || m["from"] == "" || m["category"] == nil {
			t.Errorf("quote %v", m)
		}
		seen[text] = true
	}
	if len(quotes) < 240 {
		t.Errorf("%d quotes", len(quotes))
	}
}
