package pages

import (
	"bytes"
	"html"
	"maps"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/cache/entry"
	"sundry/proxy/browsertest"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/catalog/catalogtest"
	"sundry/upstreams/envtest"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/replay"
)

// builtin is the catalog that is embedded, compiled once for all tests.
func builtin(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var compiled = sync.OnceValues(func() (*catalog.Catalog, error) {
	env := envtest.Bare()
	env.Data, env.Replay = catalog.Data(""), replay.New(nil)
	return catalog.Load(catalog.Options{}, env)
})

// exchanges are read once for all tests.
var exchanges = sync.OnceValues(fixtures.BuiltinCases)

// setOf makes the pages of a catalog, with the recorded exchanges.
func setOf(t testing.TB, c *catalog.Catalog) *Set {
	t.Helper()
	set, err := New(Config{
		BasePath: "/tools", Errors: func(i18n.Language) []apidoc.Error { return nil },
		API: apidoc.New(c, func(*catalog.Catalog) []*fixtures.Case {
			cases, err := exchanges()
			if err != nil {
				t.Error(err)
			}
			return cases
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// documentOf is a page of a set in a language.
func documentOf(t testing.TB, set *Set, path string, l i18n.Language) *Document {
	t.Helper()
	d, err := set.At(path).Make(l)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// pageOf generates a page of the catalog in English, with the recorded exchanges.
func pageOf(t testing.TB, c *catalog.Catalog, path string) *Document {
	t.Helper()
	return documentOf(t, setOf(t, c), path, i18n.English)
}

// A group of one's own is on every page, after the built-in ones.
func TestPagesShowGroupsOfOnesOwn(t *testing.T) {
	file := "version: 1\nname: joke\ngroup: {name: fun, en: Fun & games, zh: 趣味}\nsummary: {en: A joke., zh: 笑话}\ncache: {class: shared, ttl: 1h}\n" +
		"forms: [{name: json, json: .}]\nsources: [{name: made, computed: {}, map: '{joke: 1}'}]\n"
	c := catalogtest.Load(t, map[string]string{"joke": file})
	for path, want := range map[string]string{
		HomePath:      `<section id="group-fun"`,
		ReferencePath: `<h3 id="title-fun">Fun &amp; games</h3>`,
	} {
		text := textOf(pageOf(t, c, path))
		if i := strings.Index(text, want); i < strings.Index(text, "Text and daily content") || i < 0 {
			t.Errorf("%s: %s is at %d", path, want, i)
		}
		if first := "</span>/tools/api/"; strings.Contains(text, first+"joke'") || !strings.Contains(text, first) {
			t.Errorf("%s: the first example is of an operator's own file, or there is none", path)
		}
	}
}

func textOf(d *Document) string {
	body, _ := d.Body(0)
	return string(body)
}

// paths of all documents of a set, but for those of the status.
func (s *Set) paths() (pages, files []string) {
	for _, path := range slices.Sorted(maps.Keys(s.places)) {
		switch kind := s.places[path].Kind; {
		case path == StatusPath || path == StatusJSONPath || path == StatusNowPath || path == StatusFeedPath:
		case kind == Page:
			pages = append(pages, path)
		case kind == File:
			files = append(files, path)
		}
	}
	return pages, files
}

// What a set has beside the pages of its endpoints and APIs is common to all sets.
func TestCommonPaths(t *testing.T) {
	set := setOf(t, builtin(t))
	for path := range set.places {
		if of, _ := set.cfg.API.Get(strings.TrimPrefix(path, ReferencePath+"/")); IsCommon(path) == (of != nil) {
			t.Errorf("%s: common is %v", path, of != nil)
		}
	}
	for _, path := range []string{"/docs/60s", "/docs/nope", "/api/60s", "/nope", "/statuses"} {
		if IsCommon(path) {
			t.Errorf("%s is common", path)
		}
	}
}

// Documents are as they are said to be, and the same whenever they are generated.
func TestDocuments(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	c := builtin(t)
	set, again := setOf(t, c), setOf(t, c)
	pages, files := set.paths()
	for _, path := range append(pages, files...) {
		for _, l := range i18n.All() {
			if l != i18n.English && set.places[path].Kind == File {
				continue // it has no language
			}
			d := documentOf(t, set, path, l)
			if html := d.Type == typeHTML; d.ETag == "" || d.Type == "" || html != (d.CSP == pageCSP || d.CSP == redirectingCSP) {
				t.Errorf("%s: %q, ETag %q, policy %q", path, d.Type, d.ETag, d.CSP)
			}
			if next := documentOf(t, again, path, l); next.ETag != d.ETag || !bytes.Equal([]byte(textOf(next)), []byte(textOf(d))) {
				t.Errorf("%s: generated again it differs", path)
			}
			body, coding := d.Body(entry.Codings(0).With(entry.Gzip).With(entry.Zstd))
			if d.Type != typeIcon && path != robotsPath && (coding != entry.Zstd || len(body) > len(textOf(d))*3/4) {
				t.Errorf("%s: %d bytes in %s", path, len(body), coding)
			}
		}
	}
	for _, path := range []string{"/api/60s", "", "/docs/nope", "/assets/", "/assets/site.css", "/assets/other.0123.css"} {
		if set.At(path).Kind != Absent {
			t.Errorf("%q is there", path)
		}
	}
}

// TestTheFirstCallIsUnderstood by who reads the page in that language, and what is added by whom.
func TestTheFirstCallIsUnderstood(t *testing.T) {
	set := setOf(t, builtin(t))
	for l, parts := range map[i18n.Language][2]string{
		i18n.English: {`/tools/api/qrcode?text=https%3A%2F%2Fexample.org%2F'`, "drafts an endpoint of one call"},
		i18n.Chinese: {`/tools/api/60s'`, "按一次调用起草接口文件"},
	} {
		for _, path := range []string{HomePath, ReferencePath} {
			text := textOf(documentOf(t, set, path, l))
			if !strings.Contains(text, parts[0]) || strings.Contains(text, "curl -o qrcode.png '") != (l == i18n.English) {
				t.Errorf("%s in %v: no call of %s", path, l, parts[0])
			}
			if path == ReferencePath && !strings.Contains(text, parts[1]) {
				t.Errorf("%s in %v: no %s", path, l, parts[1])
			}
		}
	}
}

// link matches the targets of links, pictures, scripts, style sheets and forms.
var link = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// Whatever a page links to is there, below the base path, or is a call of an endpoint.
func TestLinksResolve(t *testing.T) { checkLinks(t, setOf(t, builtin(t))) }

func checkLinks(t *testing.T, set *Set) {
	t.Helper()
	pages, _ := set.paths()
	for _, path := range pages {
		for _, l := range i18n.All() {
			text := textOf(documentOf(t, set, path, l))
			for _, m := range link.FindAllStringSubmatch(text, -1) {
				to, err := url.Parse(html.UnescapeString(m[1]))
				if err != nil || to.Host != "" && to.Scheme != "https" {
					t.Errorf("%s: link %q: %v", path, m[1], err)
					continue
				}
				below, inside := strings.CutPrefix(to.Path, "/tools")
				switch found := set.At(below).Kind != Absent; {
				case to.Path == "" && to.RawQuery != "" && to.Fragment == "": // this page, in another language
				case to.Path == "" && strings.Contains(text, ` id="`+to.Fragment+`"`):
				case inside && (found || strings.HasPrefix(below, "/api/") || below == "/docs/sjbz/target"): // a call
				default:
					t.Errorf("%s: the link %q leads nowhere", path, m[1])
				}
			}
		}
	}
}

// Pages are in one language at a time, and say so.
func TestPagesAreTranslated(t *testing.T) {
	set := setOf(t, builtin(t))
	pages, _ := set.paths()
	for _, path := range pages {
		for l, tag := range map[i18n.Language]string{i18n.English: "en", i18n.Chinese: "zh-CN"} {
			text := textOf(documentOf(t, set, path, l))
			if !strings.Contains(text, `<html lang="`+tag+`">`) || strings.Contains(text, l.Say("跳到正文", "Skip to")) {
				t.Errorf("%s in %s is in another language", path, l)
			}
		}
		if slash := documentOf(t, set, path+"/", i18n.Chinese); slash != documentOf(t, set, path, i18n.Chinese) && path != "/" {
			t.Errorf("%s/ is another page", path)
		}
	}
}

// Search engines learn the address of each language where the settings have the service's.
func TestPagesTellTheirAddresses(t *testing.T) {
	c := builtin(t)
	set, err := New(Config{API: apidoc.New(c, nil), Errors: func(i18n.Language) []apidoc.Error { return nil }, BasePath: "/tools", PublicURL: "https://api.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	text := textOf(documentOf(t, set, ReferencePath, i18n.Chinese))
	for _, want := range []string{
		`<link rel="canonical" href="https://api.example.org/tools/docs?lang=zh">`,
		`<link rel="alternate" hreflang="en" href="https://api.example.org/tools/docs?lang=en">`,
		`<link rel="alternate" hreflang="zh-CN" href="https://api.example.org/tools/docs?lang=zh">`,
		`<link rel="alternate" hreflang="x-default" href="https://api.example.org/tools/docs">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there: %.1200s", want, text)
		}
	}
	for path, call := range map[string]string{ReferencePath: "https://api.example.org</span>/tools/api/", ReferencePath + "/ip": "https://api.example.org/tools/api/ip"} {
		if text := textOf(documentOf(t, set, path, i18n.English)); !strings.Contains(text, call) || strings.Contains(text, exampleOrigin) {
			t.Errorf("%s: calls do not go to the service's own address", path)
		}
	}
	if unknown := textOf(documentOf(t, setOf(t, c), ReferencePath, i18n.Chinese)); strings.Contains(unknown, "canonical") {
		t.Error("an address that nobody knows is told")
	}
}

// A file of RFC 9116 says whom to write to, and is valid for half a year.
func TestSecurityText(t *testing.T) {
	now := time.Date(2026, 11, 22, 19, 0, 0, 0, time.UTC)
	for contact, want := range map[string]string{
		"ops@example.org":          "Contact: mailto:ops@example.org\nExpires: 2027-05-22T00:00:00Z\n",
		"https://example.org/mail": "Contact: https://example.org/mail\nExpires: 2027-05-22T00:00:00Z\n",
	} {
		if got := securityText(contact, now); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", contact, got)
		}
	}
}

// What cards show is nothing that costs a visit of its own, or tells others of the visitor.
func TestTastes(t *testing.T) {
	c := builtin(t)
	set := setOf(t, c)
	got := map[string]string{}
	for _, e := range c.Endpoints {
		switch taste := set.tasteOf(i18n.English, e); {
		case taste == nil:
			got[e.Name] = "nothing"
		case taste.OnDemand:
			got[e.Name] = "on demand " + taste.Call
		case taste.Call == "":
			got[e.Name] = "asks for " + taste.Ask.Name
		default:
			got[e.Name] = taste.Call
		}
	}
	want := map[string]string{
		"wpcat": "/tools/api/wpcat?type=text", "dailywp": "/tools/api/dailywp", "favicon": "/tools/api/favicon?url=example.com",
		"ipinfo": "on demand /tools/api/ipinfo", "avatar": "/tools/api/avatar?uid=10001", "qrcode": "/tools/api/qrcode?text=https%3A%2F%2Fexample.org%2F",
		"sjbz": "/tools/docs/sjbz/target", "vidparse": "asks for url", "music": "/tools/api/music?type=text", "sjsp": "/tools/api/sjsp?type=text",
		"dwzrec": "asks for url", "onlinestatus": "asks for uid", "sfz": "asks for card", "ip": "on demand /tools/api/ip?type=text",
		"gamestatus": "asks for host", "kd": "asks for id", "lishi": "/tools/api/lishi?type=text", "yiyan": "/tools/api/yiyan?type=text",
		"dailynews": "/tools/api/dailynews?type=text", "60s": "/tools/api/60s?type=text",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The name of an asset holds a hash, so that it may be kept for good. A name that another
// version gave leads to this version's, which may not.
func TestAssets(t *testing.T) {
	set := setOf(t, builtin(t))
	name := assetsPath + set.assets.all["site.css"].public
	if !regexp.MustCompile(`^/assets/site\.[0-9a-f]{20}\.css$`).MatchString(name) {
		t.Errorf("the style sheet is at %q", name)
	}
	d, other := documentOf(t, set, name, 0), documentOf(t, set, "/assets/site.0123456789abcdef0123.css", 0)
	if !d.Immutable || other.Immutable || textOf(d) != textOf(other) || d.Type != typeCSS {
		t.Errorf("immutable %v, and by another hash %v; %s", d.Immutable, other.Immutable, d.Type)
	}
	for _, text := range []string{"url(http", "@import", "//cdn"} {
		if strings.Contains(textOf(d), text) {
			t.Errorf("the style sheet holds %s", text)
		}
	}
}

// TestPagesAreValidHTML: html-validate has no objection.
func TestPagesAreValidHTML(t *testing.T) {
	c := builtin(t)
	checkHTML(t, setOf(t, c), c)
}

func checkHTML(t *testing.T, set *Set, c *catalog.Catalog) {
	t.Helper()
	pages, _ := set.paths()
	all := map[string]string{}
	for _, l := range i18n.All() {
		for _, path := range pages {
			all[strings.ReplaceAll(path, "/", "_")+"."+l.String()] = textOf(documentOf(t, set, path, l))
		}
		all["status."+l.String()] = statusPage(t, set, l, reportOf(c, goes))
		for _, path := range []string{"/docs/qrcod", "/nosuch"} {
			d, err := set.Missing(path, l)
			if err != nil {
				t.Fatal(err)
			}
			all["missing"+strings.ReplaceAll(path, "/", "_")+"."+l.String()] = textOf(d)
		}
	}
	browsertest.ValidHTML(t, all)
}

// What a visitor loads with the first page is small.
func TestPagesAreSmall(t *testing.T) {
	set := setOf(t, builtin(t))
	accepted := entry.Codings(0).With(entry.Gzip)
	assets := 0
	for _, one := range set.assets.all {
		body, _ := documentOf(t, set, assetsPath+one.public, 0).Body(accepted)
		assets += len(body)
	}
	pages, _ := set.paths()
	for _, path := range pages {
		if body, _ := documentOf(t, set, path, i18n.Chinese).Body(accepted); len(body)+assets > 100_000 {
			t.Errorf("%s: %d bytes, with %d of assets", path, len(body), assets)
		}
	}
}

// TestTheCostOfAReload: pages that nobody asks for are not compressed, so that a changed TTL is in
// force at once.
func TestTheCostOfAReload(t *testing.T) {
	set := setOf(t, builtin(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := New(set.cfg); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 4 {
		t.Errorf("making the pages of a catalog allocates %d MB", mb)
	}
}

// TestReplayIsSaid on every page, since its samples look real.
func TestReplayIsSaid(t *testing.T) {
	c := onlyAPIs(t)
	for _, replay := range []bool{false, true} {
		set, err := New(Config{Replay: replay, Errors: func(i18n.Language) []apidoc.Error { return nil }, API: apidoc.New(c, nil)})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{HomePath, ReferencePath, "/docs/weather"} {
			if said := strings.Contains(textOf(documentOf(t, set, path, i18n.English)), "Replay: responses are recorded samples"); said != replay {
				t.Errorf("%s: said: %t, want %t", path, said, replay)
			}
		}
	}
}
