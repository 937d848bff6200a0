package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
)

// TestTheConsoleMarksDrift: what the replies of a source lack is in the admin API, in
// the metrics and in the log.
func TestTheConsoleMarksDrift(t *testing.T) {
	t.Parallel()
	var renamed atomic.Bool
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		name := "title"
		if renamed.Load() {
			name = "headline"
		}
		fmt.Fprintf(w, `{"data":{%q:"hello"}}`, name)
	}))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	write(t, dir, "news.yaml", `version: 1
name: news
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, off: true}
forms: [{name: json, json: .}]
sources: [{name: one, http: {url: "`+up.URL+`/"}, map: "{title: .data.title}"}]
`)
	if _, _, err := call(t, nil, "doctor", "--catalog", dir, "--record", "news"); err != nil {
		t.Fatal(err)
	}
	p := launch(t, &process{getenv: noEnv, onEnvironment: func(env *upstreams.Environment) { env.Drifts.Every = time.Nanosecond }}, "--catalog", dir)
	const series = `sundry_upstream_reply_drift{change="missing",endpoint="news",source="one"} `
	mustGet(t, p.public+"/api/news")
	if _, body := mustGet(t, p.admin+"/metrics"); !strings.Contains(body, series+"0") {
		t.Error("no series at zero")
	}
	renamed.Store(true)
	for i := range 3 {
		if shown := fmt.Sprint(p.mustAsk(http.MethodGet, "upstreams", "")); strings.Contains(shown, "drift") {
			t.Errorf("after %d replies: %s", i, shown)
		}
		mustGet(t, p.public+"/api/news")
	}
	if shown := fmt.Sprint(p.mustAsk(http.MethodGet, "upstreams", "")); !strings.Contains(shown, "drift:[map[change:missing field:data.title]]") {
		t.Error(shown)
	}
	if _, body := mustGet(t, p.admin+"/metrics"); !strings.Contains(body, series+"1") {
		t.Error("not in the metrics")
	}
	if log := p.stderr.String(); strings.Count(log, `msg="replies of a source have changed" endpoint=news source=one missing=[data.title]`) != 1 {
		t.Error(log)
	}
	t.Run("console", func(t *testing.T) {
		chromium(t)
		b := newBrowser(t, p.admin)
		b.until(`document.querySelectorAll(".tile").length === 4`)
		b.tab("upstreams")
		b.text("#panel", "data.title is missing")
		b.sound()
	})
}
