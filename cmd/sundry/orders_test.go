package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// serves reports whether the next answer holds this edition.
func (p *instance) serves(edition int64) bool {
	p.t.Helper()
	_, body := mustGet(p.t, p.public+"/api/own?id=1")
	return strings.Contains(body, fmt.Sprintf(`"edition":%d`, edition))
}

// order makes a change that must be in force at once, and reports whether it is pending.
func (p *instance) order(path, body string) (pending bool) {
	p.t.Helper()
	status, doc := p.ask(http.MethodPost, path, body)
	if status != http.StatusOK && status != http.StatusAccepted {
		p.t.Errorf("%s: %d %v", path, status, doc)
	}
	return status == http.StatusAccepted
}

const purgeOwn = `{"endpoint":"own","mode":"hard"}`

// TestAnOrderIsCarriedOutWhateverRedisDoes: at once where it is given, and everywhere once Redis
// takes writes again.
func TestAnOrderIsCarriedOutWhateverRedisDoes(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	up := newEditions(t)
	dir := t.TempDir()
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
	one, two := serve(t, "--catalog", dir, "--redis", patient(redis.URL())), serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
	if one.order("purge", purgeOwn) {
		t.Fatal("pending, though Redis is well")
	}
	for _, row := range []struct{ name, fault, end string }{
		{"full", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"},
		{"read-only", "REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"},
		{"without its replicas", "CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			edition := up.edition.Load()
			waittest.Until(t, "the editions agree", func() bool { return one.serves(edition) && two.serves(edition) })
			redis.Must(row.fault)
			edition = up.edition.Add(1)
			if !one.order("purge", purgeOwn) {
				t.Error("a purge that cannot be stored is not told as pending")
			}
			if !one.serves(edition) {
				t.Error("the purged answer is still served")
			}
			edition = up.edition.Add(1)
			one.order("purge", fmt.Sprintf(`{"endpoint":"own","key":%q}`, one.keyOf(t, "1")))
			if !one.serves(edition) {
				t.Error("the dropped answer is still served")
			}
			if ready, _, body, _ := get(one.admin + "/readyz"); ready != http.StatusOK || !strings.Contains(body, "2 pending") {
				t.Errorf("%d %s", ready, body)
			}
			redis.Must(row.end)
			waittest.Until(t, "the purge elsewhere", func() bool { return two.serves(edition) })
			waittest.Until(t, "all is stored", func() bool { return one.mustAsk(http.MethodGet, "overview", "")["pending"] == 0.0 })
		})
	}
}

// keyOf is the cache key of an id.
func (p *instance) keyOf(t *testing.T, id string) string {
	t.Helper()
	for _, e := range p.mustAsk(http.MethodGet, "endpoints/own/entries", "")["entries"].([]any) {
		if key := e.(map[string]any)["key"].(string); strings.HasSuffix(key, ":"+id+"|") {
			return key
		}
	}
	t.Fatalf("no entry of %s: %v", id, p.mustAsk(http.MethodGet, "endpoints/own/entries", ""))
	return ""
}

// TestDamagedSettingsAreRepaired from what an instance holds, whatever stands in their place,
// which is kept; and an instance that has just started leaves that to others.
func TestDamagedSettingsAreRepaired(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string][]string{
		"garbage": {"SET sundry:settings garbage"},
		"a list":  {"LPUSH other garbage", "RENAME other sundry:settings"},
	} {
		t.Run(name, func(t *testing.T) {
			redis := redistest.Start(t)
			up := newEditions(t)
			dir := t.TempDir()
			writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
			one := serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
			one.mustAsk(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"90s"}}`)
			for _, command := range damage {
				redis.Must(command)
			}
			late := serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
			edition := up.edition.Add(1)
			one.order("purge", purgeOwn)
			if !one.serves(edition) {
				t.Error("the purged answer is still served")
			}
			waittest.Until(t, "all is stored", func() bool { return one.mustAsk(http.MethodGet, "overview", "")["pending"] == 0.0 })
			waittest.Until(t, "the settings on an instance that started later", func() bool {
				return fmt.Sprint(late.mustAsk(http.MethodGet, "audit", "")["cache"]) == fmt.Sprint(one.mustAsk(http.MethodGet, "audit", "")["cache"])
			})
			if n := late.maxAge("/api/own"); n > 90 {
				t.Errorf("max-age=%d", n)
			}
			if reply := redis.Must("TYPE sundry:damaged:{sundry:settings}"); strings.Contains(reply, "none") {
				t.Error("what stood there is gone")
			}
			if n := one.metric("sundry_settings_repairs_total") + late.metric("sundry_settings_repairs_total"); n != 1 {
				t.Errorf("repaired %v times", n)
			}
		})
	}
}

// TestAnOrderIsCarriedOutOnAFullDisk: as good as that is a directory that is gone.
func TestAnOrderIsCarriedOutOnAFullDisk(t *testing.T) {
	t.Parallel()
	up := newEditions(t)
	dir, disk := t.TempDir(), filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
	p := serve(t, "--catalog", dir, "--data", disk)
	p.serves(0)
	if err := os.RemoveAll(disk); err != nil {
		t.Fatal(err)
	}
	edition := up.edition.Add(1)
	if !p.order("purge", purgeOwn) || !p.serves(edition) {
		t.Error("the purge is not pending, or the purged answer is still served")
	}
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the purge is stored", func() bool {
		b, _ := os.ReadFile(filepath.Join(disk, "settings"))
		return strings.Contains(string(b), `"purges":{"own":{"hard"`)
	})
}

// TestWhatWasDroppedDoesNotReturn with a snapshot from a backup, however many other changes were made since.
func TestWhatWasDroppedDoesNotReturn(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	for _, changes := range []int{0, 60, 260} {
		t.Run(fmt.Sprint(changes), func(t *testing.T) {
			up := newEditions(t)
			dir, at := t.TempDir(), t.TempDir()
			writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
			start := func() *instance { return serve(t, "--catalog", dir, "--data", at) }
			first := start()
			first.serves(0)
			key := first.keyOf(t, "1")
			first.end()
			snapshot := readFile(t, filepath.Join(at, "snapshot"))
			second := start()
			edition := up.edition.Add(1)
			for range changes + 1 {
				second.mustAsk(http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"own","key":%q}`, key))
				key = strings.Replace(key, ":1|", ":2|", 1)
			}
			second.end()
			write(t, at, "snapshot", snapshot)
			third := start()
			if !third.serves(edition) {
				t.Error("what was dropped has returned")
			}
		})
	}
}

// TestAnOlderVersionKeepsWhatItDoesNotKnow: records of a newer one, with fields and kinds of their own, are there
// after all that operators do.
func TestAnOlderVersionKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	up := newEditions(t)
	dir, data := t.TempDir(), t.TempDir()
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
	settings := filepath.Join(data, "settings")
	if err := os.WriteFile(settings, []byte(`{"seq":2,"complete_to":2,"audit":[
		{"seq":1,"id":"a","at":"2026-01-01T00:00:00Z","by":"me","do":"cache","target":"own","after":{"values":{"ttl":"2h"},"new":1},"new":2},
		{"seq":1,"id":"b","at":"2026-01-01T00:00:00Z","by":"me","do":"trial","target":"own","after":{"b":9007199254740993}},
		{"seq":2,"id":"c","at":"2026-01-01T00:00:00Z","by":"me","do":"drop","target":"own","note":"own:k","new":3}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := serve(t, "--catalog", dir, "--data", data)
	p.serves(0)
	for _, c := range []struct{ method, path, body string }{
		{http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"90s"}}`}, {http.MethodPost, "purge", purgeOwn}, {http.MethodPost, "purge", `{"endpoint":"*","mode":"soft"}`},
		{http.MethodPost, "purge", fmt.Sprintf(`{"endpoint":"own","key":%q}`, p.keyOf(t, "1"))}, {http.MethodPost, "audit/3/undo", ""},
	} {
		p.mustAsk(c.method, c.path, c.body)
	}
	p.end()
	b, err := os.ReadFile(settings)
	var stored map[string]any
	if err != nil || json.Unmarshal(b, &stored) != nil {
		t.Fatal(err, string(b))
	}
	for n, want := range []string{`{"b":9007199254740993}`, `"new":1`, `"new":2`, `"new":3`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%d: %s is gone from %s", n, want, b)
		}
	}
	if stored["seq"] != 7.0 {
		t.Errorf("%s", b)
	}
}
