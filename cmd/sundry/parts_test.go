package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// held lists what an instance's memory holds of an endpoint, by part.
func (p *instance) held(endpoint string) map[string][]map[string]any {
	p.t.Helper()
	out := map[string][]map[string]any{}
	for _, item := range p.mustAsk(http.MethodGet, "endpoints/"+endpoint+"/entries?limit=1000", "")["entries"].([]any) {
		e := item.(map[string]any)
		part, _ := e["part"].(string)
		out[part] = append(out[part], e)
	}
	return out
}

// usable counts the entries that may still be served.
func usable(entries []map[string]any) (n int) {
	for _, e := range entries {
		if e["state"] != "gone" {
			n++
		}
	}
	return n
}

// TestPartsOfAnEndpointAreSeen: pictures and steps' outcomes are listed, looked
// at, dropped and purged with the endpoint that keeps them.
func TestPartsOfAnEndpointAreSeen(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "sjbz"), "--replay")
	for range 8 {
		mustGet(t, p.public+"/api/sjbz")
	}
	held := p.held("sjbz")
	if len(held[""]) == 0 || len(held["pictures"]) == 0 {
		t.Fatalf("%v", held)
	}
	all := len(held[""]) + len(held["pictures"])
	if look := p.mustAsk(http.MethodPost, "purge", `{"endpoint":"sjbz","mode":"hard","preview":true}`); look["entries"] != float64(all) {
		t.Errorf("preview: %v, want %d", look, all)
	}
	key := held["pictures"][0]["key"].(string)
	if !strings.HasPrefix(key, "sjbz/pictures:") {
		t.Errorf("key %s", key)
	}
	doc := p.mustAsk(http.MethodGet, "endpoints/sjbz/entry?key="+url.QueryEscape(key), "")
	if typ := doc["bodies"].([]any)[0].(map[string]any)["type"].(string); !strings.HasPrefix(typ, "image/") {
		t.Errorf("%v", doc)
	}
	if n := p.mustAsk(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"sjbz","key":%q}`, key))["entries"]; n != 1.0 {
		t.Errorf("dropped %v", n)
	}
	if status, doc := p.ask(http.MethodGet, "endpoints/sjbz/entry?key="+url.QueryEscape(key), ""); status != http.StatusNotFound {
		t.Errorf("a dropped picture: %d %v", status, doc)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"sjbz","mode":"hard"}`)
	if held := p.held("sjbz"); usable(held[""])+usable(held["pictures"]) != 0 {
		t.Errorf("after a hard purge: %v", held)
	}
}

// TestStepsAreSeenAndNotShown: what a step brought may be a key to elsewhere.
func TestStepsAreSeenAndNotShown(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "music"), "--replay")
	mustGet(t, p.public+"/api/music")
	held := p.held("music")
	var key string
	for part, entries := range held {
		if part != "" {
			key = entries[0]["key"].(string)
		}
	}
	if key == "" {
		t.Fatalf("no outcome of a step is listed: %v", held)
	}
	doc := p.mustAsk(http.MethodGet, "endpoints/music/entry?key="+url.QueryEscape(key), "")
	if preview := doc["bodies"].([]any)[0].(map[string]any)["preview"].(string); !strings.HasPrefix(preview, "not shown") {
		t.Errorf("%v", doc)
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"*","mode":"hard"}`)
	for part, entries := range p.held("music") {
		if usable(entries) != 0 {
			t.Errorf("after a hard purge: %s %v", part, entries)
		}
	}
}
