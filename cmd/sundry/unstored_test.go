package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// silentAPI serves an API that says nothing about caching, except at paths below /kept.
func silentAPI(t *testing.T) (url string) {
	t.Helper()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/kept") {
			w.Header().Set("Cache-Control", "max-age=60")
		}
		fmt.Fprint(w, r.URL.Path)
	}))
	t.Cleanup(api.Close)
	return api.URL
}

// unstored returns the line on an API in the admin API, and in explain, in both languages; nil if there is none.
func (p *instance) unstored(api, path string) (lines []string) {
	p.t.Helper()
	for _, a := range p.mustAsk(http.MethodGet, "apis", "")["apis"].([]any) {
		if of := a.(map[string]any); of["name"] == api && of["unstored"] != nil {
			texts := of["unstored"].(map[string]any)
			lines = append(lines, texts["en"].(string), texts["zh"].(string))
		}
	}
	for _, in := range []string{"en", "zh"} {
		doc := p.mustAsk(http.MethodPost, "explain?lang="+in, `{"url":"`+path+`"}`)
		for _, part := range doc["parts"].([]any) {
			for _, fact := range part.(map[string]any)["facts"].([]any) {
				if f := fact.(map[string]any); f["about"] == "hint" {
					lines = append(lines, f["says"].(string))
				}
			}
		}
	}
	return lines
}

// unstoredLogged counts the lines of the log that say that nothing of an API could be stored.
func (p *instance) unstoredLogged(api string) int {
	return strings.Count(p.stderr.String(), `msg="none of the first responses of an API could be stored" api=`+api+" ")
}

// TestAnAPIThatSaysNothing: the log, the admin API and explain say why none of its responses is stored, and what to do; until one is stored.
func TestAnAPIThatSaysNothing(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", silentAPI(t))
	for i := range 25 {
		mustGet(t, fmt.Sprintf("%s/a/%d", p.public, i))
	}
	waittest.Until(t, "the line in the log", func() bool { return p.unstoredLogged("api") > 0 })
	lines := p.unstored("api", "/a/1")
	if len(lines) != 4 || lines[0] != lines[2] || lines[1] != lines[3] {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"says neither Cache-Control nor Last-Modified, nor Expires or ETag; set --ttl 1m next to --to, or cache: {default: 1m}", "--ttl 1m，或在它的文件中设置"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("%s, want %s", lines[i], want)
		}
	}
	for i, name := range []string{"proxy.md", "proxy.zh-CN.md"} {
		if !strings.Contains(readFile(t, filepath.Join(samples, name)), lines[i]) {
			t.Errorf("%s does not show the line %s", name, lines[i])
		}
	}
	mustGet(t, p.public+"/kept")
	if lines := p.unstored("api", "/a/1"); lines != nil || p.unstoredLogged("api") != 1 {
		t.Errorf("%q\n%s", lines, p.stderr)
	}
}

// TestAnAPIAskedWithCookies: the remedy is another one, and after a reload with it responses are stored. One that changes the API without it
// begins the counting anew.
func TestAnAPIAskedWithCookies(t *testing.T) {
	t.Parallel()
	origin, dir := silentAPI(t), t.TempDir()
	declare := func(cache string) {
		write(t, dir, "shop.yaml", "version: 1\nname: shop\nproxy: {to: '"+origin+"', cache: {"+cache+"}}\n")
	}
	declare("default: {200: 1m}")
	p := serve(t, "--catalog", dir)
	fill := func() {
		for i := range 20 {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/api/shop/a/%d", p.public, i), http.NoBody)
			r.Header.Set("Cookie", "session=1")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, resp.Body) // a response that its client gives up does not count
			_ = resp.Body.Close()
		}
	}
	reload := func(cache string) {
		declare(cache)
		p.mustAsk(http.MethodPost, "reload", "")
		waittest.Until(t, "the reload", func() bool { return p.unstored("shop", "/api/shop/a") == nil })
	}
	fill()
	waittest.Until(t, "the line in the log", func() bool { return p.unstoredLogged("shop") == 1 })
	if lines := p.unstored("shop", "/api/shop/a"); len(lines) != 4 || !strings.Contains(lines[0], "the requests have Cookie") || !strings.Contains(lines[1], "cache: {credentials: shared}") {
		t.Errorf("%q", lines)
	}
	reload("default: {200: 2m}")
	fill()
	waittest.Until(t, "another line in the log", func() bool { return p.unstoredLogged("shop") == 2 })
	reload("default: {200: 2m}, credentials: shared")
	fill()
	if lines := p.unstored("shop", "/api/shop/a"); lines != nil || p.unstoredLogged("shop") != 2 {
		t.Errorf("%q\n%s", lines, p.stderr)
	}
}

// TestAnAPIWhoseTwentiethResponseIsStored has nothing to be told of.
func TestAnAPIWhoseTwentiethResponseIsStored(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", silentAPI(t))
	for i := range 40 {
		path := fmt.Sprintf("/a/%d", i)
		if i == 19 {
			path = "/kept"
		}
		mustGet(t, p.public+path)
	}
	if lines := p.unstored("api", "/a/1"); lines != nil || p.unstoredLogged("api") != 0 {
		t.Errorf("%q\n%s", lines, p.stderr)
	}
}

// TestTheRemedyOfAnAPIThatSaysNothing: with --ttl responses are stored, and there is no line.
func TestTheRemedyOfAnAPIThatSaysNothing(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", silentAPI(t), "--ttl", "1m")
	for i := range 25 {
		mustGet(t, fmt.Sprintf("%s/a/%d", p.public, i))
	}
	if lines := p.unstored("api", "/a/1"); lines != nil || p.unstoredLogged("api") != 0 {
		t.Errorf("%q\n%s", lines, p.stderr)
	}
}
