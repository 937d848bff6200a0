package pages

import (
	"strings"
	"testing"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/catalog/catalogtest"
)

// apiFiles are an API below a path, and one that has Host names and no summary.
func apiFiles() map[string]string {
	return map[string]string{
		"weather":  "version: 1\nname: weather\nsummary: {en: Weather by place., zh: 各地天气}\nproxy: {to: 'http://127.0.0.1:3000/v1'}\n",
		"bulletin": "version: 1\nname: bulletin\nproxy: {to: 'https://inner.example', hosts: [News.example.org, news.example.com]}\n",
	}
}

// TestAPIsOnPages: each is where endpoints are, with what it is for and where it is.
func TestAPIsOnPages(t *testing.T) {
	c := catalogtest.Load(t, apiFiles())
	set := setOf(t, c)
	for _, row := range []struct {
		path   string
		en, zh []string
	}{
		{
			HomePath,
			[]string{`<a href="#group-as_is"`, "APIs as they are", `data-names="weather weather by place 各地天气" data-about="weather by place. 各地天气"`, "<p>Weather by place.</p>", `<a href="/tools/api/weather/">`, `<a href="/tools/docs/bulletin">`, "news.example.org, news.example.com</p>"},
			[]string{"原样代理的 API", "<p>各地天气</p>", "<p>原样代理的 HTTP API。</p>", "news.example.org, news.example.com</p>"},
		},
		{ReferencePath, []string{`<h3 id="title-as_is">APIs as they are</h3>`, `<a href="/tools/docs/weather"><strong>Weather by place <code>weather</code></strong>`}, []string{"<span>各地天气</span>"}},
		{
			"/docs/weather",
			[]string{"<title>Weather by place · Sundry</title>", "Everything below <code>/tools/api/weather/</code>", "curl -i '<span class=\"origin\">http://localhost:8080</span>/tools/api/weather/'", "All methods and paths go on to its origin", "formats are described by whoever runs it. Errors of this service have the header <code>Sundry-Error</code>:", "<code>upstream_timeout</code>", "Retry-After", "Cache-Status", "Age: 18", "<li>fresh for as long as the response says, by the first that it has of Sundry-Cache-Control, CDN-Cache-Control, Cache-Control, Expires</li>"},
			[]string{"各地天气", "<code>/tools/api/weather/</code>", "任何方法、任何路径", "源站自己的文档。本服务自身的错误带有响应头 <code>Sundry-Error</code>："},
		},
		{
			"/docs/bulletin",
			[]string{"Every path of <code>news.example.org</code>, <code>news.example.com</code>", "curl -i 'https://news.example.org/'"},
			[]string{"<code>news.example.org</code>、<code>news.example.com</code>"},
		},
	} {
		for l, parts := range map[i18n.Language][]string{i18n.English: row.en, i18n.Chinese: row.zh} {
			text := textOf(documentOf(t, set, row.path, l))
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("%s in %v: no %s in %s", row.path, l, part, text)
				}
			}
		}
	}
	llms := textOf(documentOf(t, set, llmsPath, 0))
	for _, part := range []string{"- [Weather by place](/tools/docs/weather): Weather by place.\n  - /tools/api/weather/\n", "- [bulletin](/tools/docs/bulletin): An HTTP API as it is.\n  - news.example.org, news.example.com\n"} {
		if !strings.Contains(llms, part) {
			t.Errorf("no %q in %s", part, llms)
		}
	}
	if openAPI := textOf(documentOf(t, set, OpenAPIPath, i18n.English)); !strings.Contains(openAPI, "passed on as they are: bulletin (`/tools/docs/bulletin`), weather (`/tools/docs/weather`).") {
		t.Error("OpenAPI does not say which APIs it leaves out")
	}
	state := statusPage(t, set, i18n.English, reportOf(c, func(name string) string { return map[string]string{"weather": "f"}[name] }))
	for _, part := range []string{"0 of 1 endpoints work", `<h2 id="title-as_is">APIs as they are</h2>`, `<li data-live id="at-bulletin">`} {
		if !strings.Contains(state, part) {
			t.Errorf("the status has no %s", part)
		}
	}
	checkLinks(t, set)
	checkHTML(t, set, c)
}

// TestOnlyAPIs: where all endpoints are turned off, nothing is said of them.
func TestOnlyAPIs(t *testing.T) {
	c := onlyAPIs(t)
	set := setOf(t, c)
	for path, gone := range map[string][]string{
		HomePath: {"without a key", "call them with GET"}, ReferencePath: {"Every endpoint", "invalid_parameter", "without a key"}, "/docs/weather": {"without a key"},
	} {
		text := textOf(documentOf(t, set, path, i18n.English))
		for _, part := range gone {
			if strings.Contains(text, part) {
				t.Errorf("%s says %q of no endpoint", path, part)
			}
		}
		if !strings.Contains(text, "weather") {
			t.Errorf("%s: no API in %s", path, text)
		}
	}
	checkLinks(t, set)
	checkHTML(t, set, c)
}

// onlyAPIs is a catalog without endpoints.
func onlyAPIs(t *testing.T) *catalog.Catalog {
	t.Helper()
	off := map[string]catalog.Overrides{}
	for _, name := range catalog.BuiltinNames() {
		off[name] = catalog.Overrides{Off: true}
	}
	return catalogtest.LoadWith(t, apiFiles(), off)
}
