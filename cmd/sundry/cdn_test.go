package main

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHeadersForACDN holds the table of scaling.md to what instances answer: what a CDN
// may keep, and what it has to pass.
func TestHeadersForACDN(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay")
	rows := regexp.MustCompile("(?m)^\\| `(/.*)` \\| `(.*)` \\| (keeps|passes) ").FindAllStringSubmatch(readFile(t, filepath.Join(samples, "scaling.md")), -1)
	if len(rows) < 10 {
		t.Fatalf("%d rows in the table", len(rows))
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, row := range rows {
		path, want, fate := row[1], row[2], row[3]
		resp, err := client.Get(p.public + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		got := regexp.MustCompile(`=\d+`).ReplaceAllString(resp.Header.Get("Cache-Control"), "=…")
		if strings.HasSuffix(want, "=60") || strings.HasSuffix(want, "=15") {
			got = resp.Header.Get("Cache-Control")
		}
		if got != want {
			t.Errorf("%s: Cache-Control %q, documented as %q", path, resp.Header.Get("Cache-Control"), want)
		}
		if (fate == "keeps") != strings.HasPrefix(got, "public") {
			t.Errorf("%s: %s, but %q", path, fate, got)
		}
		if age := resp.Header.Get("Age"); fate == "keeps" && strings.HasPrefix(path, "/api/") && age == "" {
			t.Errorf("%s: kept without Age", path)
		}
		if vary := resp.Header.Get("Vary"); fate == "keeps" && strings.HasPrefix(path, "/api/") && vary != varyOf(resp.StatusCode) && vary != "Accept-Encoding" {
			t.Errorf("%s: %d varies by %q", path, resp.StatusCode, vary)
		}
	}
}

// varyOf is what the document says of answers to those who name no language.
func varyOf(status int) string {
	if status == http.StatusNotFound {
		return "Accept, Accept-Language"
	}
	return ""
}
