package catalog_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sundry/upstreams/catalog"
	"sundry/upstreams/envtest"
)

// An endpoint with one HTTP source, a mapping and two forms.
const filledCatalog = `version: 1
name: thing
group: text
summary: {en: A benchmark., zh: 基准}
params:
  - {name: id, type: int, min: 1, max: 1000, required: true, example: "7"}
  - {name: type, role: form, example: text}
cache: {class: keyed, ttl: 24h, negative: 1h}
fields:
  id: {en: Its number., zh: 编号。}
  name: {en: Its name., zh: 名称。}
  country: {en: Where it is., zh: 国家。}
  items: {en: Its parts., zh: 部分。}
forms:
  - {name: json, json: .}
  - {name: text, text: '"\(.name), \(.country)\n" + ([.items[] | "\(.title) \(.url)"] | join("\n"))'}
sources:
  - name: origin
    negative: next
    http:
      url: "http://origin.example.org/things/{id}"
      query: {lang: zh-CN, fields: "id,name,country,items"}
      headers: {Referer: "http://origin.example.org/"}
    judge:
      - {if: .code != 0, is: unavailable}
      - {if: .data.name == null, is: negative}
    map: '.data | {id, name, country: .country_name, items: [.list[] | {title, url: .link, rank}]}'
`

const filledReply = `{"code":0,"msg":"ok","data":{"id":7,"name":"一个名字","country_name":"中国","country_code":"CN","lat":39.9042,"list":[` +
	`{"title":"第1条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/1000.html","rank":1,"hot":0.5},` +
	`{"title":"第2条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/1001.html","rank":2,"hot":1.5},` +
	`{"title":"第3条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/1002.html","rank":3,"hot":2.5},` +
	`{"title":"第4条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/1003.html","rank":4,"hot":3.5},` +
	`{"title":"第5条新闻的标题，不长也不短","link":"https://www.example.org/news/2026/1004.html","rank":5,"hot":4.5}]},"time":1790000000}`

// canned answers every request at once.
type canned string

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(c)),
		Body: io.NopCloser(bytes.NewReader([]byte(c))), Request: r,
	}, nil
}

// cannedFill makes a fill that needs no network.
func cannedFill(tb testing.TB) func() {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "thing.yaml"), []byte(filledCatalog), 0o600); err != nil {
		tb.Fatal(err)
	}
	env := envtest.New(tb)
	env.Transport, env.Data = canned(filledReply), catalog.Data("")
	c, err := catalog.Load(catalog.Options{Dir: dir}, env)
	if err != nil {
		tb.Fatal(err)
	}
	e, _ := c.Get("thing")
	in, bad := e.Parse("id=7", catalog.Caller{})
	if bad != nil {
		tb.Fatal(bad)
	}
	ctx, cancel := context.WithTimeout(tb.Context(), time.Hour) // a fill has a deadline
	tb.Cleanup(cancel)
	return func() {
		content, err := (&catalog.Loader{Input: in}).Load(ctx, false)
		if err != nil || len(content.Forms) != 2 {
			tb.Fatal(content, err)
		}
	}
}

// BenchmarkFill measures a fill without its network.
func BenchmarkFill(b *testing.B) {
	fill := cannedFill(b)
	b.ReportAllocs()
	for b.Loop() {
		fill()
	}
}

// TestFillAllocates holds a fill to what it takes: with programs that gojq runs, or JSON
// that encoding/json decodes, it would be more than twice that.
func TestFillAllocates(t *testing.T) {
	if n := testing.AllocsPerRun(200, cannedFill(t)); n > 170 {
		t.Errorf("a fill takes %.0f allocations", n)
	}
}
