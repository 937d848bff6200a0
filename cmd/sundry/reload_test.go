package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sundry/upstreams/lib/waittest"
)

// reloaded asks for a reload of a new configuration.
func (p *instance) reloaded(t *testing.T, file, text string) (status int, doc map[string]any) {
	t.Helper()
	// Whole, as nobody should read half of it, and not under a watched name: the
	// answer of the call is what is wanted here.
	next := write(t, t.TempDir(), "next", text)
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	return p.ask(http.MethodPost, "reload", "")
}

func as(t *testing.T, url, caller string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Forwarded-For", caller)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestReloadAppliesLimitsAndRanges: who is limited, who is believed, what may be
// reached and which names are ours are what the file says now.
func TestReloadAppliesLimitsAndRanges(t *testing.T) {
	t.Parallel()
	few := only("dwzrec", "gamestatus", "sfz")
	file := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+few)
	p := serve(t, "--config", file)
	port := 25990
	target := func() string { // another each time: a refusal is remembered for a moment
		port++
		return fmt.Sprintf("%s/api/gamestatus?host=127.0.0.1:%d", p.public, port)
	}
	link := p.public + "/api/dwzrec?url=http://own.example.org/x"
	if status := as(t, target(), "192.0.2.1"); status != http.StatusForbidden {
		t.Errorf("to begin with: %d", status)
	}
	status, doc := p.reloaded(t, file, "cache: {warm: false}\nallow_targets: [127.0.0.0/8]\ntrusted_proxies: [127.0.0.1]\nlimits: {rate: 0.001, burst: 1}\nown_hosts: [Own.Example.org]\nlog_level: warn\n"+few)
	want := []any{"log_level: warn, was info", "trusted_proxies: [127.0.0.1/32], was []", "allow_targets: [127.0.0.0/8], was []", "own_hosts: [own.example.org], was []",
		"limits.rate: 0.001, was 50", "limits.burst: 1, was 0"}
	if status != http.StatusOK || !slices.Equal(doc["changed"].([]any), want) || len(doc["needs_restart"].([]any)) != 0 {
		t.Errorf("%d %v", status, doc)
	}
	for i, want := range []int{http.StatusOK, http.StatusTooManyRequests} {
		if got := as(t, target(), "192.0.2.1"); got != want {
			t.Errorf("call %d of one client: %d, want %d", i, got, want)
		}
	}
	if got := as(t, link, "192.0.2.2"); got != http.StatusForbidden {
		t.Errorf("a link to ourselves, of a client that the proxy names: %d", got)
	}
	lines := strings.Count(p.stderr.String(), "msg=request")
	if as(t, p.public+"/api/sfz", "192.0.2.3"); strings.Count(p.stderr.String(), "msg=request") != lines {
		t.Error("logged in spite of log_level")
	}
	// What a client used of its rate is not forgotten by a reload of other things.
	if status, doc = p.reloaded(t, file, "cache: {warm: false}\nallow_targets: [127.0.0.0/8]\ntrusted_proxies: [127.0.0.1]\nlimits: {rate: 0.001, burst: 1}\n"+few); status != http.StatusOK {
		t.Errorf("%d %v", status, doc)
	}
	if got := as(t, target(), "192.0.2.1"); got != http.StatusTooManyRequests {
		t.Errorf("after the reload: %d", got)
	}
	if status, doc = p.reloaded(t, file, "cache: {warm: false}\n"+few); status != http.StatusOK {
		t.Errorf("%d %v", status, doc)
	}
	if got := as(t, target(), "192.0.2.1"); got != http.StatusForbidden {
		t.Errorf("back to the beginning: %d", got)
	}
}

// TestReloadNamesWhatNeedsARestart, and leaves it as it is.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, dir, "sundry.yaml", onlyWith("ip", "{cache: {ttl: 2h}}"))
	p := serve(t, "--replay", "--config", file)
	for range 2 { // as long as it differs
		status, doc := p.reloaded(t, file, fmt.Sprintf("base_path: /tools\nredis: redis://:secret@127.0.0.1:1\ncatalog: %s\nlog_format: json\ndata: %s\ncache: {memory: 64MiB, warm: true}\n", t.TempDir(), filepath.Join(dir, "data"))+onlyWith("ip", "{cache: {ttl: 90s}}"))
		if status != http.StatusOK {
			t.Fatalf("%d %v", status, doc)
		}
		var keys []string
		for _, line := range doc["needs_restart"].([]any) {
			key, _, _ := strings.Cut(line.(string), " ")
			keys = append(keys, strings.TrimSuffix(key, ":"))
		}
		if want := []string{"redis", "catalog", "base_path", "log_format", "data", "cache.memory", "cache.warm"}; !slices.Equal(keys, want) {
			t.Errorf("%q, want %q", keys, want)
		}
	}
	if n := p.maxAge(ipCall); n > 90 {
		t.Errorf("what can be applied is not: max-age=%d", n)
	}
	log := p.stderr.String()
	if !strings.Contains(log, `level=WARN msg="needs a restart" why="an operator asked" change="base_path: /tools, was not set"`) || !strings.Contains(log, `change="redis has changed (its value is not shown)"`) ||
		strings.Contains(log, "secret") || strings.Contains(log, "nothing has changed") {
		t.Errorf("the log says\n%s", log)
	}
	if status, doc := p.reloaded(t, file, onlyWith("ip", "{cache: {ttl: 90s}}")); status != http.StatusOK || len(doc["needs_restart"].([]any)) != 0 || len(doc["changed"].([]any)) != 0 {
		t.Errorf("as it was: %d %v", status, doc)
	}
	if !strings.Contains(p.stderr.String(), "nothing has changed") {
		t.Error("a reload of the same is not told")
	}
}

// TestReloadFailsAsAWhole: of a configuration with one mistake nothing is taken.
func TestReloadFailsAsAWhole(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", "endpoints: {ip: {cache: {ttl: 2h}}}\n")
	p := serve(t, "--replay", "--config", file)
	for _, text := range []string{
		"limits: {rate: 0.001, burst: 1, in_flight: -1}\nendpoints: {ip: {cache: {ttl: 90s}}}\n", "limits: {rate: 0.001, burst: 1}\nendpoints: {ip: {cache: {ttl: never}}}\n",
		"limits: {rate: 0.001, burst: 1}\nlog_levl: debug\n",
	} {
		if status, doc := p.reloaded(t, file, text); status != http.StatusBadRequest || !strings.Contains(fmt.Sprint(doc["error"]), file+":") {
			t.Errorf("%d %v", status, doc)
		}
		for range 3 {
			if n := p.maxAge(ipCall); n <= 90 {
				t.Errorf("max-age=%d", n)
			}
		}
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, jitter: 0")
	p := serve(t, "--catalog", dir)
	mustGet(t, p.public+"/api/own")
	hup := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	maxAge := func(want string) func() bool {
		return func() bool {
			h, _ := mustGet(t, p.public+"/api/own")
			return strings.Contains(h.Get("Cache-Control"), want) && strings.Contains(h.Get("Cache-Status"), "hit")
		}
	}
	writeOwn(t, dir, u, "ttl: 10m, jitter: 0")
	hup()
	waittest.Until(t, "the new TTL", maxAge("max-age=5"))
	writeOwn(t, dir, u, "ttl: soon, grace: later")
	hup()
	mistake := regexp.MustCompile(`(?m)"reload failed.* why=SIGHUP .*own\.yaml:6.*$`) // by itself it is read again, too
	waittest.Until(t, "the mistakes are logged", func() bool { return len(mistake.FindAllString(p.stderr.String(), -1)) > 1 })
	if text := p.stderr.String(); len(mistake.FindAllString(text, -1)) != 2 || strings.Contains(text, `\n`) {
		t.Errorf("two mistakes are not two lines: %s", text)
	}
	if !maxAge("max-age=5")() {
		t.Error("the set before was not kept")
	}
	if _, body := mustGet(t, p.admin+"/metrics"); !strings.Contains(body, "sundry_config_last_reload_successful 0") {
		t.Error("the failed reload is not in the metrics")
	}
	writeOwn(t, dir, u, "ttl: 2h, jitter: 0")
	hup()
	waittest.Until(t, "the next TTL", maxAge("max-age=7"))
	if u.calls.Load() != 1 {
		t.Errorf("%d calls", u.calls.Load())
	}
}

// TestAnotherCatalogInThePlaceOfTheFirst: what a deployment puts there takes effect, and so does
// what is saved in it later.
func TestAnotherCatalogInThePlaceOfTheFirst(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	for name, put := range map[string]func(t *testing.T, release, current string) error{
		"a link is moved": func(t *testing.T, release, current string) error {
			link := filepath.Join(t.TempDir(), "next")
			return errors.Join(os.Symlink(release, link), os.Rename(link, current))
		},
		"it is made anew": func(_ *testing.T, release, current string) error {
			return errors.Join(os.RemoveAll(current+"/catalog"), os.MkdirAll(current+"/catalog", 0o700), os.Rename(release+"/catalog/own.yaml", current+"/catalog/own.yaml"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := func(rule string) string {
				dir := t.TempDir()
				if err := os.Mkdir(dir+"/catalog", 0o700); err != nil {
					t.Fatal(err)
				}
				writeOwn(t, dir+"/catalog", u, rule)
				return dir
			}
			current := filepath.Join(t.TempDir(), "current")
			if err := os.Symlink(release("ttl: 1h"), current); err != nil {
				t.Fatal(err)
			}
			p := serve(t, "--catalog", current+"/catalog")
			for i, ttl := range []string{"2h", "3h"} { // the watch on the first was the only one to begin with
				if err := put(t, release("ttl: "+ttl), current); err != nil {
					t.Fatal(err)
				}
				waittest.Until(t, "release "+strconv.Itoa(i), func() bool { return p.ttl("own") == ttl+"0m0s" })
				writeOwn(t, current+"/catalog", u, "ttl: 9"+ttl)
				waittest.Until(t, "what is saved in it", func() bool { return p.ttl("own") == "9"+ttl+"0m0s" })
			}
		})
	}
}

// TestFilesThatLieElsewhere take effect once they are saved there, where only links are in the watched directories.
func TestFilesThatLieElsewhere(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	for name, lies := range map[string]struct{ link, at, file string }{
		"a catalog file":    {"own.yaml", "own.yaml", "own.yaml"},
		"one of a folder":   {"own/endpoint.yaml", "own.yaml", "own.yaml"},
		"a folder":          {"own", ".", "endpoint.yaml"},
		"the configuration": {"sundry.yaml", "sundry.yaml", "sundry.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalog, elsewhere := t.TempDir(), t.TempDir()
			args, from := []string{"--catalog", catalog}, filepath.Join(catalog, lies.link)
			save := func(ttl string) {
				next := t.TempDir()
				writeOwn(t, next, u, "ttl: "+ttl)
				write(t, elsewhere, lies.file, readFile(t, next+"/own.yaml"))
			}
			if lies.link == "sundry.yaml" {
				writeOwn(t, catalog, u, "ttl: 1h")
				from = filepath.Join(t.TempDir(), lies.link)
				args = append(args, "--config", from)
				save = func(ttl string) { write(t, elsewhere, lies.file, onlyWith("own", "{cache: {ttl: "+ttl+"}}")) }
			}
			save("1h")
			if err := errors.Join(os.MkdirAll(filepath.Dir(from), 0o700), os.Symlink(filepath.Join(elsewhere, lies.at), from)); err != nil {
				t.Fatal(err)
			}
			p := serve(t, args...)
			for _, ttl := range []string{"2h", "3h"} {
				save(ttl)
				waittest.Until(t, ttl, func() bool { return p.ttl("own") == ttl+"0m0s" })
			}
		})
	}
}

// TestEndpointsAreTurnedOffAndOn by a reload. Keys of their sources may stay set.
func TestEndpointsAreTurnedOffAndOn(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", "endpoints: {qrcode: {off: true}, sjsp: {off: true}}\nproxies: {sjsp: http://127.0.0.1:1}\n")
	dir := t.TempDir()
	exchange := filepath.Join(dir, "testdata/qrcode/local/mine")
	if err := os.MkdirAll(exchange, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, exchange, "exchange.yaml", "origin: recorded\nwant: negative\nnow: 2026-11-21T09:00:00+08:00\nparams: {text: hello}\n")
	env := map[string]string{"SUNDRY_PEXELS_KEY": "0123456789abcdef"}
	if _, errs, err := call(t, env, "check", "--catalog", dir, "--config", file); err != nil {
		t.Fatal(err, errs)
	}
	p := launch(t, processOf(t, env), "--replay", "--config", file)
	if status, _, body, err := get(p.public + "/api/qrcode?text=a&lang=en"); err != nil || status != http.StatusNotFound || !strings.Contains(body, "there is no such endpoint") {
		t.Error(status, body, err)
	}
	if _, body := mustGet(t, p.public+"/openapi.json"); strings.Contains(body, "/api/qrcode") || !strings.Contains(body, "/api/ip") {
		t.Error("the API's description has qrcode, or not ip")
	}
	write(t, filepath.Dir(file), "sundry.yaml", "endpoints: {}\n")
	waittest.Until(t, "qrcode is on", func() bool {
		status, _, _, err := get(p.public + "/api/qrcode?text=a")
		return err == nil && status == http.StatusOK
	})
}
