package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPURGEWithFilesOfAPIs: a tag at / is purged of all of them, as where one has all paths, and who asks for a wrong place is
// told the right ones.
func TestPURGEWithFilesOfAPIs(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: '"+origin+"'}\n")
	write(t, dir, "news.yaml", "version: 1\nname: news\nproxy: {to: '"+origin+"', hosts: [news.example.org]}\n")
	p := serve(t, "--catalog", dir, "--config", write(t, t.TempDir(), "few.yaml", only("sfz")))
	purge := func(path, field string) (int, string) {
		r, _ := http.NewRequestWithContext(t.Context(), "PURGE", p.admin+path, http.NoBody)
		r.Header.Set("Accept-Language", "en")
		for line := range strings.SplitSeq(field, "\n") {
			if name, value, ok := strings.Cut(line, ": "); ok {
				r.Header.Add(name, value)
			}
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	for _, row := range []struct {
		path, field, want string
		status            int
		gone              int64
	}{
		{"/", "Cache-Tag: all", `"entries":1,`, http.StatusOK, 1},
		{"/", "Surrogate-Key: all", `"entries":1,`, http.StatusOK, 1},
		{"/", "Cache-Tags: all", "Cache-Tags: expected Cache-Tag or Surrogate-Key", http.StatusBadRequest, 0},
		{"/api/weather/a", "Xkey: all", "Xkey: expected Cache-Tag or Surrogate-Key", http.StatusBadRequest, 0},
		{"/", "Cache-Tag: all\nCache-Tag: other", "a tag without spaces and commas", http.StatusBadRequest, 0},
		{"/", "Cache-Tag: all\nSurrogate-Key: all", `"entries":1,`, http.StatusOK, 1},
		{"/", "Surrogate-Key: all other", "a tag without spaces and commas", http.StatusBadRequest, 0},
		{"/api/weather/a", "", `"entries":1,`, http.StatusOK, 1},
		{"/a", "", "/api/weather/ (weather)", http.StatusNotFound, 0},
		{"/a", "", "Host: news.example.org (news)", http.StatusNotFound, 0},
		{"/api/sfz", "", "sfz is an endpoint; purge it by POST purge", http.StatusNotFound, 0},
	} {
		mustGet(t, p.public+"/api/weather/a")
		before := calls.Load()
		if status, body := purge(row.path, row.field); status != row.status || !strings.Contains(body, row.want) {
			t.Errorf("PURGE %s %s: %d %s", row.path, row.field, status, body)
		}
		if mustGet(t, p.public+"/api/weather/a"); calls.Load()-before != row.gone {
			t.Errorf("PURGE %s %s: %d calls, want %d", row.path, row.field, calls.Load()-before, row.gone)
		}
	}
}

// TestPurgeOfAURLAsCallersWriteIt, where the file drops and sorts parameters.
func TestPurgeOfAURLAsCallersWriteIt(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: '"+origin+"', cache: {drop: ['utm_*'], sort: true}}\n")
	p := serve(t, "--catalog", dir, "--config", write(t, t.TempDir(), "few.yaml", only("sfz")))
	for _, url := range []string{"/a?b=1&utm_x=2&a=3", "/a?utm_x=2", "/a?"} {
		mustGet(t, p.public+"/api/weather"+url)
		before := calls.Load()
		if _, v := p.ask(http.MethodPost, "purge", `{"endpoint":"weather","url":"`+url+`","mode":"hard"}`); v["entries"] != 1.0 {
			t.Errorf("%s: %v", url, v)
		}
		if mustGet(t, p.public+"/api/weather"+url); calls.Load() != before+1 {
			t.Errorf("%s: what was purged is served", url)
		}
	}
}
