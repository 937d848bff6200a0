package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/policy"
	"sundry/proxy/live"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// keptOf is keptIn with these endpoints of the program alone.
func keptOf(t testing.TB, dir string, endpoints ...string) map[string]string {
	t.Helper()
	return keptIn(dir, "SUNDRY_CONFIG", onlyIn(t, endpoints...)["SUNDRY_CONFIG"])
}

// keptIn is the environment of an instance with a data directory.
func keptIn(dir string, more ...string) map[string]string {
	env := map[string]string{"SUNDRY_DATA": dir}
	for i := 0; i+1 < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return env
}

func age(t testing.TB, h http.Header) int {
	t.Helper()
	n, err := strconv.Atoi(h.Get("Age"))
	if err != nil {
		t.Errorf("Age: %q", h.Get("Age"))
	}
	return n
}

// wantMemoryHit requires an answer of the near tier.
func wantMemoryHit(t testing.TB, h http.Header) {
	t.Helper()
	if s := h.Get("Cache-Status"); !strings.HasPrefix(s, "sundry; hit; ttl=") || !strings.Contains(s, "detail=memory") {
		t.Errorf("Cache-Status %s", s)
	}
}

// TestARestartKeepsWhatWasKnown: the first answers after it are hits from memory at the
// age that they had, and no source is called.
func TestARestartKeepsWhatWasKnown(t *testing.T) {
	t.Parallel()
	env := keptIn(t.TempDir())
	env["SUNDRY_CONFIG"] = onlyIn(t, "avatar", "ip", "wpcat")["SUNDRY_CONFIG"]
	calls := []string{ipCall, "/api/wpcat?n=3", "/api/avatar?uid=10001"}
	first := serveWith(t, env, "--replay")
	bodies := map[string]string{}
	for _, call := range calls {
		mustGet(t, first.public+call)
	}
	waittest.Until(t, "they are a second old", func() bool {
		for _, call := range calls {
			h, body := mustGet(t, first.public+call)
			if bodies[call] = body; age(t, h) < 1 {
				return false
			}
		}
		return true
	})
	first.end()
	second := serveWith(t, env, "--replay")
	for _, call := range calls {
		h, body := mustGet(t, second.public+call)
		wantMemoryHit(t, h)
		if age(t, h) < 1 {
			t.Errorf("%s: Age %s", call, h.Get("Age"))
		}
		if body != bodies[call] {
			t.Errorf("%s: %s, was %s", call, body, bodies[call])
		}
	}
	if _, text := mustGet(t, second.admin+"/metrics"); regexp.MustCompile(`(?m)^sundry_upstream_attempts_total\{.*\} [1-9]`).MatchString(text) {
		t.Error("a source was called")
	} else if !strings.Contains(text, "\nsundry_cache_snapshot_entries_total{result=\"read\"} 3\n") {
		t.Error("the entries are not counted")
	}
	if log := first.stderr.String(); !strings.Contains(log, `msg="snapshot written" entries=3`) {
		t.Errorf("of the write, the log says\n%s", log)
	}
	if log := second.stderr.String(); !strings.Contains(log, `msg="snapshot read" entries=3`) {
		t.Errorf("of the read, the log says\n%s", log)
	}
}

// TestSnapshotAfterTheCatalogChanged: what the file of before answered is not served.
func TestSnapshotAfterTheCatalogChanged(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h")
	env := keptIn(t.TempDir())
	first := serveWith(t, env, "--catalog", dir)
	mustGet(t, first.public+"/api/own")
	first.end()
	writeOwn(t, dir, u, "ttl: 2h") // the rule is no part of the key
	second := serveWith(t, env, "--catalog", dir)
	h, _ := mustGet(t, second.public+"/api/own")
	wantMemoryHit(t, h)
	second.end()
	file := filepath.Join(dir, "own.yaml")
	write(t, dir, "own.yaml", strings.Replace(readFile(t, file), "json: .", `json: "{of: .}"`, 1))
	third := serveWith(t, env, "--catalog", dir)
	if _, body := mustGet(t, third.public+"/api/own"); !strings.Contains(body, `"of"`) || u.calls.Load() != 2 {
		t.Errorf("%s after %d calls", body, u.calls.Load())
	}
	if log := third.stderr.String(); !strings.Contains(log, "unknown=1") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestWhatWasPurgedIsNotReadAgain: the file is gone when the instance serves, whatever
// becomes of the process after a purge.
func TestWhatWasPurgedIsNotReadAgain(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	dir, data := catalogDir(t, u, "ttl: 1h"), t.TempDir()
	first := serveWith(t, keptIn(data), "--catalog", dir)
	mustGet(t, first.public+"/api/own?id=1")
	mustGet(t, first.public+"/api/own?id=2")
	first.end()
	second := serveWith(t, keptIn(data), "--catalog", dir)
	if _, err := os.Stat(filepath.Join(data, "snapshot")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("once it is read: %v", err)
	}
	second.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`)
	mustGet(t, second.public+"/api/own?id=2")
	second.end()
	third := serveWith(t, keptIn(data), "--catalog", dir) // without a file for the purge
	mustGet(t, third.public+"/api/own?id=1")
	if u.calls.Load() != 4 {
		t.Errorf("%d calls: what was purged came back", u.calls.Load())
	}
	h, _ := mustGet(t, third.public+"/api/own?id=2")
	wantMemoryHit(t, h)
}

// TestTheDataDirectoryIsMade for its owner alone, with all that outlives a restart in it.
func TestTheDataDirectoryIsMade(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := serveWith(t, onlyIn(t, "ip"), "--replay", "--data", dir)
	mustGet(t, p.public+ipCall)
	p.mustAsk(http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"90s"}}`)
	p.end()
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatal(info, err)
	}
	entries, err := os.ReadDir(dir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if want := []string{"advice", "marks", "settings", "snapshot", "status"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v %v, want %v", names, err, want)
	}
}

// TestDrainGoesOnWithoutASnapshot that cannot be written.
func TestDrainGoesOnWithoutASnapshot(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := serveWith(t, keptOf(t, dir, "ip"), "--replay")
	mustGet(t, p.public+ipCall)
	if err := os.Rename(dir, dir+".gone"); err != nil {
		t.Fatal(err)
	}
	p.end()
	if log := p.stderr.String(); !strings.Contains(log, "the snapshot was not written") || !strings.Contains(log, "msg=stopped") {
		t.Errorf("the log says\n%s", log)
	}
}

// TestSnapshotIsWrittenAfterTheDrain, also if that has taken all its time.
func TestSnapshotIsWrittenAfterTheDrain(t *testing.T) {
	t.Parallel()
	env := keptOf(t, t.TempDir(), "ip")
	env["SUNDRY_DRAIN_TIMEOUT"] = "0s"
	first := serveWith(t, env, "--replay")
	mustGet(t, first.public+ipCall)
	first.stop()
	<-first.done // with or without connections that were cut off
	close(first.done)
	delete(env, "SUNDRY_DRAIN_TIMEOUT")
	second := serveWith(t, env, "--replay")
	h, _ := mustGet(t, second.public+ipCall)
	wantMemoryHit(t, h)
}

// TestSnapshotWaitsForPurges: while they cannot be known, it is not read, and not replaced.
func TestSnapshotWaitsForPurges(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "snapshot")
	first := serveWith(t, keptOf(t, dir, "ip"), "--replay")
	mustGet(t, first.public+ipCall)
	first.end()
	before := readFile(t, file)
	second := serveWith(t, keptOf(t, dir, "ip"), "--replay", "--redis", "redis://127.0.0.1:1")
	if h, _ := mustGet(t, second.public+ipCall); strings.Contains(h.Get("Cache-Status"), "hit") {
		t.Errorf("Cache-Status %s", h.Get("Cache-Status"))
	}
	second.end()
	if readFile(t, file) != before || strings.Contains(second.stderr.String(), "snapshot read") {
		t.Errorf("the log says\n%s", second.stderr)
	}
}

// TestAStartWaitsForTheSnapshotForAWhile, and not at all while purges are not known.
func TestAStartWaitsForTheSnapshotForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{log: slog.New(slog.DiscardHandler), snapshot: &snapshotFile{done: make(chan struct{})}}
		waited := func() time.Duration {
			start := time.Now()
			s.awaitSnapshot(t.Context())
			return time.Since(start)
		}
		if d := waited(); d != 0 {
			t.Errorf("%v before purges are known", d)
		}
		s.replicator = live.NewReplicator(live.ReplicatorConfig{
			Store: &live.File{}, Log: s.log, Purge: func(map[string]policy.Purge, []live.Order) {}, Apply: func(live.EffectiveSettings) error { return nil }, Check: func(map[string]map[string]string) error { return nil },
		})
		if err := s.replicator.FirstSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := waited(); d != snapshotWait {
			t.Errorf("waited %v", d)
		}
		close(s.snapshot.done)
		if d := waited(); d != 0 {
			t.Errorf("%v for what has been read", d)
		}
	})
}
