package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/proxy/live"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

// ask calls the admin API of a process.
func (p *instance) ask(method, path, body string) (int, map[string]any) {
	p.t.Helper()
	req, err := http.NewRequest(method, p.admin+"/admin/api/"+path, bytes.NewReader([]byte(body)))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Accept-Language", "en")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	var doc map[string]any
	if err != nil || json.Unmarshal(b, &doc) != nil {
		p.t.Fatalf("%s %s: %v: %s", method, path, err, b)
	}
	return resp.StatusCode, doc
}

func (p *instance) mustAsk(method, path, body string) map[string]any {
	p.t.Helper()
	status, doc := p.ask(method, path, body)
	if status != http.StatusOK {
		p.t.Fatalf("%s %s: %d %v", method, path, status, doc)
	}
	return doc
}

// maxAge is what the next caller of an endpoint is told.
func (p *instance) maxAge(path string) int {
	p.t.Helper()
	header, _ := mustGet(p.t, p.public+path)
	var n int
	if _, err := fmt.Sscanf(header.Get("Cache-Control"), "public, max-age=%d", &n); err != nil {
		p.t.Fatalf("%s: %v", header.Get("Cache-Control"), err)
	}
	return n
}

const ipCall = "/api/ip?ip=8.8.8.8"

// TestLiveTTL: a change is seen by the next caller, on every instance, survives
// a restart, and is taken back by one click.
func TestLiveTTL(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	one, two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL())), serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	before := one.maxAge(ipCall)
	two.maxAge(ipCall)
	if before < 3600 {
		t.Fatalf("max-age=%d to begin with", before)
	}
	record := one.mustAsk(http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"90s"}}`)
	if n := one.maxAge(ipCall); n > 90 {
		t.Errorf("the next answer says max-age=%d", n)
	}
	waittest.Until(t, "the other instance", func() bool { return two.maxAge(ipCall) <= 90 })
	two.end()
	three := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	waittest.Until(t, "an instance that started later", func() bool { return three.maxAge(ipCall) <= 90 })
	three.mustAsk(http.MethodPost, fmt.Sprintf("audit/%v/undo", record["seq"]), "")
	if n := three.maxAge(ipCall); n <= 90 {
		t.Errorf("after the undo: max-age=%d", n)
	}
	waittest.Until(t, "the undo on the first instance", func() bool { return one.maxAge(ipCall) > 90 })
	audit := one.mustAsk(http.MethodGet, "audit", "")["audit"].([]any)
	if len(audit) != 2 || audit[1].(map[string]any)["undoes"] != record["seq"] {
		t.Errorf("%v", audit)
	}
}

// TestAChangeIsCompiledOnce: for the check and for putting it into force.
func TestAChangeIsCompiledOnce(t *testing.T) {
	t.Parallel()
	s := builtServer(t, only("qrcode", "ip"))
	settings := map[string]map[string]string{"ip": {"ttl": "90s"}}
	if err := s.validate(settings); err != nil {
		t.Fatal(err)
	}
	checked := s.compiled.set
	if err := s.apply(live.EffectiveSettings{Cache: settings}); err != nil || checked == nil || s.front.Catalog() != checked {
		t.Errorf("%v; what was checked is in force: %v", err, s.front.Catalog() == checked)
	}
	if err := s.apply(live.EffectiveSettings{}); err != nil || s.front.Catalog() == checked {
		t.Errorf("%v; back to the file: %v", err, s.front.Catalog() != checked)
	}
}

// TestLiveTTLSurvivesInAFile: without Redis, a file keeps it.
func TestLiveTTLSurvivesInAFile(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	one := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--data", data)
	one.mustAsk(http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"90s"},"for":"1h"}`)
	one.end()
	two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--data", data)
	waittest.Until(t, "the setting after the restart", func() bool { return two.maxAge(ipCall) <= 90 })
	two.mustAsk(http.MethodDelete, "endpoints/ip/cache", "")
	if n := two.maxAge(ipCall); n <= 90 {
		t.Errorf("back to the file: max-age=%d", n)
	}
}

func TestPurgeReachesTheFleet(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	one, two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL())), serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	for _, p := range []*instance{one, two} {
		mustGet(t, p.public+ipCall)
	}
	look := one.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard","preview":true}`)
	if look["entries"] != 1.0 || look["change"] != nil {
		t.Errorf("preview: %v", look)
	}
	header, _ := mustGet(t, two.public+ipCall)
	if !strings.Contains(header.Get("Cache-Status"), "hit") {
		t.Errorf("the preview purged: %s", header.Get("Cache-Status"))
	}
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard"}`)
	waittest.Until(t, "the purge on the other instance", func() bool {
		header, _ := mustGet(t, two.public+ipCall)
		return strings.Contains(header.Get("Cache-Status"), "uri-miss") || strings.Contains(header.Get("Cache-Status"), "redis")
	})
	key := one.entryKey(t)
	outlastClockDifference(t)
	one.mustAsk(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"ip","key":%q}`, key))
	if status, doc := one.ask(http.MethodGet, "endpoints/ip/entry?key="+strings.ReplaceAll(strings.ReplaceAll(key, "#", "%23"), "|", "%7C"), ""); status != http.StatusNotFound {
		t.Errorf("a dropped entry: %d %v", status, doc)
	}
}

// entryKey makes and finds the entry of ip.
func (p *instance) entryKey(t *testing.T) string {
	t.Helper()
	mustGet(t, p.public+ipCall)
	entries := p.mustAsk(http.MethodGet, "endpoints/ip/entries", "")["entries"].([]any)
	if len(entries) != 1 {
		t.Fatalf("%v", entries)
	}
	return entries[0].(map[string]any)["key"].(string)
}

func TestOperatorsHoldBreakersOfAFleet(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	one, two := serveWith(t, onlyIn(t, "wpcat"), "--replay", "--redis", patient(redis.URL())), serveWith(t, onlyIn(t, "wpcat"), "--replay", "--redis", patient(redis.URL()))
	one.mustAsk(http.MethodPost, "upstreams/wallpaper.apc.360.cn", `{"do":"open","for":"1h"}`)
	waittest.Until(t, "failover on the other instance", func() bool {
		header, _ := mustGet(t, two.public+"/api/wpcat?n=4&p="+fmt.Sprint(time.Now().UnixNano()%900+1))
		return header.Get("Sundry-Source") == "replay:birdpaper"
	})
	hosts := two.mustAsk(http.MethodGet, "upstreams", "")["hosts"].([]any)
	for _, h := range hosts {
		if v := h.(map[string]any); v["name"] == "wallpaper.apc.360.cn" && (v["state"] != "open" || v["force"] != "open" || v["until"] == nil) {
			t.Errorf("%v", v)
		}
	}
	one.mustAsk(http.MethodPost, "upstreams/wallpaper.apc.360.cn", `{"do":"auto"}`)
	one.mustAsk(http.MethodPost, "upstreams/wallpaper.apc.360.cn", `{"do":"reset"}`)
	header, _ := mustGet(t, one.public+"/api/wpcat?n=5")
	if header.Get("Sundry-Source") != "replay:wallpaper-360" {
		t.Errorf("let go: %s", header.Get("Sundry-Source"))
	}
}

func TestFailuresCanBeTriedAgain(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "kd", "wpcat"), "--replay", "--replay-fault", "wpcat/wallpaper-360=error:1", "--replay-fault", "kd/uapis=error:1")
	mustGet(t, p.public+"/api/wpcat?n=4")
	for _, path := range []string{"/api/kd?id=YT0000000000009"} {
		if _, _, _, err := get(p.public + path); err != nil {
			t.Fatal(err)
		}
	}
	retried := 0
	for _, item := range p.mustAsk(http.MethodGet, "failures", "")["failures"].([]any) {
		f := item.(map[string]any)
		status, doc := p.ask(http.MethodPost, fmt.Sprintf("failures/%v/retry", f["id"]), "")
		if f["endpoint"] == "kd" {
			if f["params"] != nil || status != http.StatusBadRequest {
				t.Errorf("a parcel's number was kept: %v, %d", f, status)
			}
			continue
		}
		retried++
		stages, _ := doc["stages"].([]any)
		if status != http.StatusOK || doc["worked"] != false || len(stages) < 2 {
			t.Errorf("%d %v", status, doc)
		}
	}
	if retried == 0 {
		t.Error("no failure is remembered")
	}
}

func TestAdminMistakes(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "ip", "sfz", "60s"), "--replay")
	for _, r := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"soon"}}`, 400, "expected a duration such as"},
		{http.MethodPut, "endpoints/ip/cache", `{"set":{"class":"1h"}}`, 400, "cannot be changed while the service runs; expected one of ttl"},
		{http.MethodPut, "endpoints/ip/cache", `{"set":{}}`, 400, "expected cache settings"},
		{http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"1h"},"for":"0s"}`, 400, "expected a duration"},
		{http.MethodPut, "endpoints/ip/cache", `{"sett":{}}`, 400, "unknown field"},
		{http.MethodPut, "endpoints/ip/cache", ``, 415, "application/json"},
		{http.MethodPut, "endpoints/sfz/cache", `{"set":{"ttl":"1h"}}`, 400, "not cached"},
		{http.MethodPut, "endpoints/nope/cache", `{"set":{"ttl":"1h"}}`, 404, "endpoint \"nope\" not found"},
		{http.MethodDelete, "endpoints/nope/cache", ``, 404, "endpoint \"nope\" not found"},
		{http.MethodGet, "endpoints/nope/entries", ``, 404, "endpoint \"nope\" not found"},
		{http.MethodGet, "endpoints/ip/entry?key=60s:x", ``, 404, "entry \"60s:x\" not found"},
		{http.MethodPost, "purge", `{"endpoint":"ip","mode":"wild"}`, 400, "expected soft"},
		{http.MethodPost, "purge", `{"endpoint":"nope","mode":"soft"}`, 404, "endpoint \"nope\" not found"},
		{http.MethodPost, "purge", `{"endpoint":"ip","key":"60s:x"}`, 400, "not a cache key of ip"},
		{http.MethodPost, "upstreams/evil.example", `{"do":"open"}`, 404, "upstream host \"evil.example\" not found"},
		{http.MethodPost, "upstreams/ipwho.is", `{"do":"dance"}`, 400, "expected open, closed, auto or reset"},
		{http.MethodPost, "audit/77/undo", ``, 400, "change 77 is not in the audit log"},
		{http.MethodPost, "audit/x/undo", ``, 404, "change \"x\" not found"},
		{http.MethodPost, "failures/77/retry", ``, 404, "failure \"77\" not found"},
	} {
		status, doc := p.ask(r.method, r.path, r.body)
		if says, _ := doc["error"].(string); status != r.status || !strings.Contains(says, r.says) {
			t.Errorf("%s %s %s: %d %v", r.method, r.path, r.body, status, doc)
		}
	}
}

// unlimited is the part of the configuration of those who ask for as long as the machine takes.
const unlimited = "limits: {rate: 0, queue_delay: 0s}\n"

// TestFoldersAreWatched: of an endpoint that is a folder, new, changed and removed files are
// taken over by themselves.
func TestFoldersAreWatched(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	dir := t.TempDir()
	p := serve(t, "--replay", "--catalog", dir, "--config", write(t, t.TempDir(), "few.yaml", unlimited+only()))
	endpoint := filepath.Join(dir, "parted")
	if err := os.Mkdir(endpoint, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, endpoint, "endpoint.yaml", `version: 1
name: parted
group: text
summary: {en: Parted., zh: 分开}
params:
  - {name: site, type: string, enum: [one], default: one, example: one}
cache: {class: shared, ttl: 1h}
forms:
  - {name: json, json: .}
serves: $params.site
`)
	part := func(text string) {
		write(t, endpoint, "one.yaml", "sources:\n  - name: made\n    computed: {}\n    map: '{text: \""+text+"\"}'\n")
		waittest.Until(t, text, func() bool {
			_, _, body, err := get(p.public + "/api/parted")
			return err == nil && strings.Contains(body, text)
		})
	}
	part("made new")
	part("changed")
	if err := os.RemoveAll(endpoint); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the end of the endpoint", func() bool {
		status, _, _, err := get(p.public + "/api/parted")
		return err == nil && status == http.StatusNotFound
	})
}

// TestFilesAreWatched: a changed file is taken over by itself, a broken one is
// not, and what changed is in the log.
func TestFilesAreWatched(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	dir := t.TempDir()
	cfg := write(t, dir, "sundry.yaml", unlimited+onlyWith("ip", "{cache: {ttl: 2h}}"))
	p := serve(t, "--replay", "--config", cfg)
	if n := p.maxAge(ipCall); n > 7200 {
		t.Fatalf("max-age=%d", n)
	}
	next := write(t, dir, "next", unlimited+onlyWith("ip", "{cache: {ttl: 90s}}"))
	if err := os.Rename(next, cfg); err != nil { // as editors save
		t.Fatal(err)
	}
	waittest.Until(t, "the changed file", func() bool { return p.maxAge(ipCall) <= 90 })
	waittest.Until(t, "the word of what changed", func() bool {
		log := p.stderr.String()
		return strings.Contains(log, "ip: ttl 1m30s, was 2h0m0s") && strings.Contains(log, "files changed")
	})
	write(t, dir, "sundry.yaml", unlimited+onlyWith("ip", "{cache: {ttl: never}}"))
	waittest.Until(t, "the word of the mistake", func() bool {
		return strings.Contains(p.stderr.String(), "reload failed; the previous configuration and catalog stay in force")
	})
	if n := p.maxAge(ipCall); n > 90 {
		t.Errorf("a mistake was taken over: max-age=%d", n)
	}
	if status, doc := p.ask(http.MethodPost, "reload", ""); status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(doc), "never") {
		t.Errorf("reload with a mistake: %d %v", status, doc)
	}
	write(t, dir, "sundry.yaml", unlimited+onlyWith("ip", "{cache: {ttl: 3h}}"))
	p.mustAsk(http.MethodPost, "reload", "")
	if n := p.maxAge(ipCall); n <= 90 {
		t.Errorf("after a reload: max-age=%d", n)
	}
}
