package pages

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/cache"
	"sundry/upstreams/catalog"
	"sundry/upstreams/envtest"
	"sundry/upstreams/recorded"
	"sundry/upstreams/replay"
)

// builtin loads the catalog that is embedded.
func builtin(t *testing.T) *catalog.Catalog {
	t.Helper()
	env := envtest.New(t)
	env.Data, env.Replay = catalog.Data(""), replay.New(nil)
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pageOf generates a page of the catalog, with the recorded exchanges.
func pageOf(t *testing.T, c *catalog.Catalog, path string) *Document {
	t.Helper()
	cases, err := recorded.Cases(recorded.Builtin(), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	set, err := New(Config{
		Catalog: c, BasePath: "/tools", ErrorTypes: []string{"not_found"},
		Recorded: func() []*recorded.Case { return cases },
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := set.Document(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A group of one's own is on every page, after the built-in ones.
func TestPagesShowGroupsOfOnesOwn(t *testing.T) {
	dir := t.TempDir()
	file := "version: 1\nname: joke\ngroup: {name: fun, en: Fun & games, zh: 趣味}\nsummary: {en: A joke., zh: 笑话}\ncache: {class: shared, ttl: 1h}\n" +
		"forms: [{name: json, json: .}]\nsources: [{name: made, computed: {}, map: '{joke: 1}'}]\n"
	if err := os.WriteFile(filepath.Join(dir, "joke.yaml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	env := envtest.New(t)
	env.Data, env.Replay = catalog.Data(dir), replay.New(nil)
	c, err := catalog.Load(catalog.Options{Dir: dir}, env)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		HomePath:      `<section id="group-fun">`,
		ReferencePath: `<h2>Fun &amp; games <span lang="zh-CN">趣味</span></h2><a href="#joke">joke</a>`,
		OpenAPIPath:   `{"description":"Fun & games 趣味","name":"fun"}]`,
	} {
		text := textOf(pageOf(t, c, path))
		if i := strings.Index(text, want); i < strings.Index(text, "文字与每日内容") || i < 0 {
			t.Errorf("%s: %s is at %d", path, want, i)
		}
	}
}

func textOf(d *Document) string {
	body, _ := d.Body(0)
	return string(body)
}

func TestPages(t *testing.T) {
	c := builtin(t)
	for path, typ := range map[string]string{HomePath: typeHTML, ReferencePath: typeHTML, OpenAPIPath: typeJSON} {
		if !Has(path) {
			t.Errorf("%s: not a page", path)
		}
		d := pageOf(t, c, path)
		if d.Type != typ || d.ETag == "" || (d.CSP == "") != (typ == typeJSON) {
			t.Errorf("%s: %q, ETag %q, policy %q", path, d.Type, d.ETag, d.CSP)
		}
		if again := pageOf(t, c, path); again.ETag != d.ETag || !bytes.Equal([]byte(textOf(again)), []byte(textOf(d))) {
			t.Errorf("%s: generated again it differs", path)
		}
		if !strings.Contains(textOf(d), "/tools") {
			t.Errorf("%s: no link below the base path", path)
		}
		if body, coding := d.Body(cache.Codings(0).With(cache.Gzip).With(cache.Zstd)); coding != cache.Zstd || len(body) > len(textOf(d))/2 {
			t.Errorf("%s: %d bytes in %s", path, len(body), coding)
		}
	}
	if Has("/api/60s") || Has("") {
		t.Error("there are more pages than expected")
	}
}
