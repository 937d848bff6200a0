package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// evidence of the advice on the endpoint own.
func (p *instance) evidence() (refreshes, requests float64) {
	p.t.Helper()
	doc := p.mustAsk(http.MethodGet, "endpoints/own/advice", "")["evidence"].(map[string]any)
	return doc["refreshes"].(float64), doc["requests"].(float64)
}

// TestAdviceOutlivesARestart in the data directory. A torn file is a start
// anew, and a line in the log; other content of that name is none of its own.
func TestAdviceOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir, data := catalogDir(t, newUpstream(t), "ttl: 1h"), t.TempDir()
	file := filepath.Join(data, "advice")
	start := func() *instance { return serve(t, "--catalog", dir, "--data", data) }
	first := start()
	mustGet(t, first.public+"/api/own?id=1")
	first.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
	mustGet(t, first.public+"/api/own?id=1")
	waittest.Until(t, "the refresh is seen", func() bool { n, _ := first.evidence(); return n == 1 })
	_, before := first.evidence()
	first.end()
	second := start()
	if refreshes, requests := second.evidence(); refreshes != 1 || requests != before || requests == 0 {
		t.Errorf("%v refreshes, %v requests, before %v", refreshes, requests, before)
	}
	second.end()
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(file), filepath.Base(file), string(whole[:len(whole)-1]))
	third := start()
	if n, _ := third.evidence(); n != 0 || !strings.Contains(third.stderr.String(), "advice begins anew") {
		t.Errorf("%v refreshes\n%s", n, third.stderr)
	}
	writeOwn(t, dir, newUpstream(t), "ttl: 1h") // another address
	third.end()
	write(t, filepath.Dir(file), filepath.Base(file), string(whole))
	fourth := start()
	if n, _ := fourth.evidence(); n != 0 {
		t.Errorf("%v refreshes of another file of that name", n)
	}
}
