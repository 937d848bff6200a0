package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// keeper is a cache with a snapshot, before Read.
type keeper struct {
	*Cache
	*Snapshot
	log *bytes.Buffer
}

func keepIn(t testing.TB, file string, cfg Config) *keeper {
	t.Helper()
	log := &bytes.Buffer{}
	c := newCache(t, cfg)
	s := c.Snapshot(SnapshotConfig{
		File: file, Keeps: func(key string) bool { return !strings.Contains(key, ":old:") },
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return &keeper{c, s, log}
}

// started has read the file.
func started(t testing.TB, file string, cfg Config) *keeper {
	t.Helper()
	k := keepIn(t, file, cfg)
	k.Read(t.Context())
	return k
}

func (k *keeper) mustWrite(t testing.TB) {
	t.Helper()
	if err := k.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantLog requires a line with all of these.
func (k *keeper) wantLog(t testing.TB, words ...string) {
	t.Helper()
	for line := range strings.Lines(k.log.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return
		}
	}
	t.Errorf("no line with %q in:\n%s", words, k.log)
}

func (k *keeper) result(name string) float64 {
	return testutil.ToFloat64(k.Snapshot.metrics.entries.WithLabelValues(name))
}

// told is a loader that gives this content.
func told(c entry.Content) *script {
	return &script{make: func(int64) (entry.Content, error) { return c, nil }}
}

// stock is one content of each sort, by key.
func stock() map[string]entry.Content {
	forms := textContent(strings.Repeat("news of the day ", 40))
	forms.Forms[0][0].Compress = true
	link := entry.Body{Status: http.StatusFound, Type: "text/plain", Location: "https://example.org/a", Data: []byte("a")}
	forms.Forms = append(forms.Forms, nil, entry.Form{link})
	forms.Edition, forms.Fresh = "2000-01-01", 50*time.Second
	resort := textContent("from the last one")
	resort.LastResort = true
	return map[string]entry.Content{
		"60s:v1:main:":          forms,
		"60s:v1:long:":          long(20 << 10),
		"yiyan:v1:main:":        pool(30),
		"ip:v1:main:=192.0.2.1": textContent("here"),
		"ip:v1:main:=nobody":    negativeContent(),
		"ip:v1:main:=resort":    resort,
		"ip:v1:main:=large":     long(200 << 10),
		"qr:v1:main:#1":         textContent("<svg/>"),
	}
}

var stockClasses = map[string]policy.Class{"60s": policy.Shared, "yiyan": policy.Shared, "ip": policy.Keyed, "qr": policy.Computed}

// spaceFor opens the space of a key.
func spaceFor(c *Cache, key string) *Space {
	name, _, _ := strings.Cut(key, ":")
	return c.Space(name, classed(stockClasses[name]))
}

func fillAll(t *testing.T, c *Cache, contents map[string]entry.Content) {
	t.Helper()
	for key, content := range contents {
		mustFetch(t, spaceFor(c, key), key, told(content))
	}
}

// openSpaces opens those of these keys, as a start does.
func openSpaces(c *Cache, contents map[string]entry.Content) {
	for key := range contents {
		spaceFor(c, key)
	}
}

func snapshotFile(t testing.TB) string { return filepath.Join(t.TempDir(), "snapshot") }

// TestSnapshotBringsBackEverything: all classes, split entries, pools, negative answers,
// all forms, at their age.
func TestSnapshotBringsBackEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := snapshotFile(t)
		first := started(t, file, Config{})
		fillAll(t, first.Cache, stock())
		time.Sleep(20 * time.Second)
		first.mustWrite(t)
		first.wantLog(t, "level=INFO", `"snapshot written"`, "entries=8", "bytes=", "took=")
		if at := testutil.ToFloat64(first.Snapshot.metrics.lastWrite); at != float64(time.Now().Unix()) {
			t.Errorf("the last write is of %v, at %d", at, time.Now().Unix())
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		time.Sleep(5 * time.Second)
		second := keepIn(t, file, Config{})
		openSpaces(second.Cache, stock())
		second.Read(t.Context())
		second.wantLog(t, "level=INFO", `"snapshot read"`, "entries=8", "written=2000-01-01T00:00:20Z")
		for key, content := range stock() {
			for form := range max(1, len(content.Forms)) {
				nobody := &script{err: errDown}
				got, err := spaceFor(second.Cache, key).Get(t.Context(), key, Want{Form: form}, nobody)
				want, err2 := spaceFor(first.Cache, key).Get(t.Context(), key, Want{Form: form}, nobody)
				if err != nil || err2 != nil {
					t.Fatalf("%s: %v %v", key, err, err2)
				}
				if got.Tier != Near || got.Age != 25*time.Second {
					t.Errorf("%s: from %v at an age of %v", key, got.Tier, got.Age)
				}
				if got.Random && slices.ContainsFunc(content.Forms[form], func(b entry.Body) bool { return bytes.Equal(b.Data, got.Rep.Data) }) {
					got.Rep, want.Rep = entry.Rep{}, entry.Rep{}
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Answer{})); diff != "" {
					t.Errorf("%s, form %d (-before +after):\n%s", key, form, diff)
				}
			}
		}
		if n := second.result("read"); n != 8 {
			t.Errorf("%v entries counted as read", n)
		}
	})
}

// TestSnapshotHasWhatOnlyTheHotTableHas, and each entry once.
func TestSnapshotHasWhatOnlyTheHotTableHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, key := snapshotFile(t), "60s:v1:main:"
		first := started(t, file, Config{})
		fillAll(t, first.Cache, stock())
		synctest.Wait()
		if first.near.hot.get(key) == nil {
			t.Fatal("not in the hot table")
		}
		if err := first.near.class[policy.Shared].Delete(key); err != nil {
			t.Fatal(err)
		}
		first.mustWrite(t)
		first.wantLog(t, "entries=8")
		second := keepIn(t, file, Config{})
		openSpaces(second.Cache, stock())
		second.Read(t.Context())
		if h := mustFetch(t, spaceFor(second.Cache, key), key, &script{err: errDown}); h.Tier != Near {
			t.Errorf("from %v", h.Tier)
		}
	})
}

// restarted writes what is in the cache now and starts again with the spaces opened by
// open.
func restarted(t *testing.T, first *keeper, open func(*Cache)) *keeper {
	t.Helper()
	first.mustWrite(t)
	second := keepIn(t, first.file, Config{})
	open(second.Cache)
	second.Read(t.Context())
	return second
}

// TestSnapshotIsJudgedByThePolicyInForce, not by that of before.
func TestSnapshotIsJudgedByThePolicyInForce(t *testing.T) {
	for name, r := range map[string]struct {
		change func(*policy.Policy)
		after  time.Duration
		state  policy.State
		skip   string
	}{
		"fresh still":                  {func(*policy.Policy) {}, time.Second, policy.Fresh, ""},
		"stale by now":                 {func(*policy.Policy) {}, 5 * time.Minute, policy.Grace, ""},
		"a shorter TTL":                {func(p *policy.Policy) { p.TTL, p.Grace = time.Second, 0 }, 10 * time.Second, policy.Stale, ""},
		"a longer TTL":                 {func(p *policy.Policy) { p.TTL = time.Hour }, 30 * time.Minute, policy.Fresh, ""},
		"another class":                {func(p *policy.Policy) { p.Class = policy.Shared }, time.Second, policy.Fresh, ""},
		"too old":                      {func(*policy.Policy) {}, 2 * time.Hour, policy.Gone, "gone"},
		"too old by the new rule":      {func(p *policy.Policy) { p.TTL, p.Grace, p.StaleIfError = time.Second, 0, 0 }, time.Minute, policy.Gone, "gone"},
		"no longer stored":             {func(p *policy.Policy) { p.TTL = 0 }, time.Second, policy.Gone, "unknown"},
		"of a clock that was set back": {func(*policy.Policy) {}, -time.Hour, policy.Gone, "broken"},
	} {
		synctest.Test(t, func(t *testing.T) {
			const key = "ip:v1:main:=1"
			first := started(t, snapshotFile(t), Config{})
			if r.after >= 0 {
				mustFetch(t, first.Space("ip", classed(policy.Keyed)), key, &script{text: "here"})
				first.mustWrite(t)
				time.Sleep(r.after)
			} else {
				writeOne(t, first, key, fromTomorrow(t, time.Hour).Raw)
			}
			p := classed(policy.Keyed)
			r.change(&p)
			second := keepIn(t, first.file, Config{})
			s := second.Space("ip", p)
			second.Read(t.Context())
			info, _, found := s.Look(key)
			if found != (r.skip == "") || found && info.State != r.state {
				t.Errorf("%s: found %v, %v", name, found, info.State)
			}
			if r.skip != "" && second.result(r.skip) != 1 {
				t.Errorf("%s: not counted as %s\n%s", name, r.skip, second.log)
			}
		})
	}
}

// writeOne makes a snapshot of one entry.
func writeOne(t *testing.T, k *keeper, key string, raw []byte) {
	t.Helper()
	var b bytes.Buffer
	enc := newSnapshotEncoder(&b)
	if err := errors.Join(enc.begin(time.Now()), enc.record(key, raw), enc.end()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSnapshotOfAnotherCatalog: keys that the catalog does not make, and endpoints that
// there are no longer, are skipped and counted.
func TestSnapshotOfAnotherCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := started(t, snapshotFile(t), Config{})
		fillAll(t, first.Cache, map[string]entry.Content{"60s:v1:main:": textContent("a"), "ip:v1:main:=1": textContent("b")})
		all := first.keeps
		first.keeps = func(string) bool { return true }
		fillAll(t, first.Cache, map[string]entry.Content{"60s:old:main:": textContent("c")})
		first.mustWrite(t)
		second := keepIn(t, first.file, Config{})
		second.keeps = all
		second.Space("60s", usual())
		second.Read(t.Context())
		second.wantLog(t, `"snapshot read"`, "entries=1", "unknown=2")
		if n := second.result("unknown"); n != 2 {
			t.Errorf("%v counted", n)
		}
		if _, _, found := second.Space("60s", usual()).Look("60s:old:main:"); found {
			t.Error("an entry of another version of the file")
		}
	})
}

// TestSnapshotRespectsPurgesInForce that the instance has learnt of before it reads.
func TestSnapshotRespectsPurgesInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := started(t, snapshotFile(t), Config{})
		fillAll(t, first.Cache, map[string]entry.Content{
			"60s:v1:main:": textContent("a"), "yiyan:v1:main:": textContent("b"), "ip:v1:main:=1": textContent("c"), "ip:v1:main:=2": textContent("d"),
		})
		time.Sleep(time.Second)
		first.mustWrite(t)
		second := keepIn(t, first.file, Config{})
		openSpaces(second.Cache, stock())
		now := time.Now()
		second.SetPurges(map[string]policy.Purge{"60s": {Hard: now}, "yiyan": {Soft: now}})
		spaceFor(second.Cache, "ip:").PurgeKey("ip:v1:main:=1", now)
		if _, err := os.Stat(first.file); err != nil {
			t.Fatalf("purges of before the start remove the file: %v", err)
		}
		second.Read(t.Context())
		for key, want := range map[string]policy.State{"60s:v1:main:": policy.Absent, "yiyan:v1:main:": policy.Grace, "ip:v1:main:=1": policy.Absent, "ip:v1:main:=2": policy.Fresh} {
			if info, _, _ := spaceFor(second.Cache, key).Look(key); info.State != want {
				t.Errorf("%s: %v, want %v", key, info.State, want)
			}
		}
		if n := second.result("gone"); n != 2 {
			t.Errorf("%v counted as gone", n)
		}
	})
}

// TestWhatWasPurgedDoesNotComeBack, whenever the process is killed and though nobody
// remembers the purge.
func TestWhatWasPurgedDoesNotComeBack(t *testing.T) {
	for name, purge := range map[string]func(*Cache){
		"hard":       func(c *Cache) { c.SetPurges(map[string]policy.Purge{"60s": {Hard: time.Now()}}) },
		"soft":       func(c *Cache) { c.SetPurges(map[string]policy.Purge{"60s": {Soft: time.Now()}}) },
		"all":        func(c *Cache) { c.SetPurges(map[string]policy.Purge{policy.AllEndpoints: {Hard: time.Now()}}) },
		"of the key": func(c *Cache) { spaceFor(c, "60s:").PurgeKey("60s:v1:main:", time.Now()) },
		"twice":      func(c *Cache) { c.SetPurges(map[string]policy.Purge{"60s": {Hard: time.Now()}}); c.SetPurges(nil) },
		"the same one": func(c *Cache) {
			p := map[string]policy.Purge{"60s": {Hard: time.Now()}}
			c.SetPurges(p)
			c.SetPurges(p)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			first := started(t, snapshotFile(t), Config{})
			fillAll(t, first.Cache, map[string]entry.Content{"60s:v1:main:": textContent("unlawful"), "yiyan:v1:main:": textContent("b")})
			time.Sleep(time.Second)
			first.mustWrite(t)
			go first.Run(ctx)
			synctest.Wait()
			purge(first.Cache)
			if _, err := os.Stat(first.file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: the file is still there: %v", name, err)
			}
			if name == "twice" { // the purge is no longer in force
				return
			}
			time.Sleep(snapshotAfterPurge + time.Second)
			synctest.Wait()
			second := keepIn(t, first.file, Config{})
			openSpaces(second.Cache, stock())
			second.Read(t.Context())
			if _, _, found := spaceFor(second.Cache, "60s:").Look("60s:v1:main:"); found {
				t.Errorf("%s: what was purged is back", name)
			}
			if _, _, found := spaceFor(second.Cache, "yiyan:").Look("yiyan:v1:main:"); found == (name == "all") {
				t.Errorf("%s: of the others, found %v\n%s", name, found, first.log)
			}
		})
	}
}

// TestAPurgeDuringAWrite makes it begin anew.
func TestAPurgeDuringAWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := started(t, snapshotFile(t), Config{})
		fillAll(t, first.Cache, map[string]entry.Content{"60s:v1:main:": textContent("unlawful"), "ip:v1:main:=1": textContent("b")})
		time.Sleep(time.Second)
		passes := 0
		first.keeps = func(key string) bool { // the last one is seen after the others were written
			if strings.HasPrefix(key, "ip:") {
				if passes++; passes == 1 {
					first.SetPurges(map[string]policy.Purge{"60s": {Hard: time.Now()}})
				}
			}
			return true
		}
		second := restarted(t, first, func(c *Cache) { openSpaces(c, stock()) })
		if _, _, found := spaceFor(second.Cache, "60s:").Look("60s:v1:main:"); found || passes != 2 {
			t.Errorf("found %v after %d passes", found, passes)
		}
		if _, _, found := spaceFor(second.Cache, "ip:").Look("ip:v1:main:=1"); !found {
			t.Error("the other one is missing")
		}
	})
}

// TestSnapshotOverwritesNothing that was stored since the start: in bigcache, whole or in
// parts, or in the hot table alone.
func TestSnapshotOverwritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		contents := map[string]entry.Content{
			"60s:v1:main:": textContent("old"), "60s:v1:hot:": textContent("old"), "ip:v1:main:=1": textContent("old"), "yiyan:v1:main:": textContent("old", "old"),
		}
		first := started(t, snapshotFile(t), Config{})
		fillAll(t, first.Cache, contents)
		first.mustWrite(t)
		time.Sleep(time.Second)
		second := keepIn(t, first.file, Config{})
		for key := range contents {
			mustFetch(t, spaceFor(second.Cache, key), key, &script{text: "new"})
		}
		second.near.hot.drop("60s:v1:main:")
		if err := second.near.class[policy.Shared].Delete("60s:v1:hot:"); err != nil {
			t.Fatal(err)
		}
		second.Read(t.Context())
		for key := range contents {
			wantText(t, mustFetch(t, spaceFor(second.Cache, key), key, &script{err: errDown}), "new")
		}
		if n := second.result("newer"); n != 4 {
			t.Errorf("%v counted as newer", n)
		}
	})
}

// TestSnapshotIsReadBesideRequests: an entry that a fill stores meanwhile is never
// replaced by an older one.
func TestSnapshotIsReadBesideRequests(t *testing.T) {
	const keys = 2000
	file := snapshotFile(t)
	first := started(t, file, Config{})
	p := classed(policy.Keyed)
	p.TTL = time.Hour
	s := first.Space("ip", p)
	key := func(i int) string { return fmt.Sprintf("ip:v1:main:=%d", i) }
	for i := range keys {
		mustFetch(t, s, key(i), &script{text: "old"})
	}
	first.mustWrite(t)
	second := keepIn(t, file, Config{})
	s = second.Space("ip", p)
	done := make(chan struct{})
	go func() {
		defer close(done)
		second.Read(context.WithoutCancel(t.Context()))
	}()
	for i := range keys {
		k := key(keys - 1 - i)
		second.near.put(policy.Keyed, k, made(t, s, k, textContent("new"), time.Now()))
	}
	<-done
	for i := range keys {
		for range 2 { // from bigcache, then from the hot table
			wantText(t, mustFetch(t, s, key(i), &script{err: errDown}), "new")
		}
	}
	if second.result("read")+second.result("newer") != keys {
		t.Errorf("%v read, %v newer", second.result("read"), second.result("newer"))
	}
}

// TestSnapshotBesideRedis holds what Redis does not.
func TestSnapshotBesideRedis(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := snapshotFile(t)
		local := classed(policy.Keyed)
		local.Local = true
		alone := started(t, file, Config{})
		mustFetch(t, alone.Space("ip", classed(policy.Keyed)), "ip:v1:main:=1", &script{})
		mustFetch(t, alone.Space("sjbz/pictures", local), "sjbz/pictures:v1:main:#1", &script{})
		alone.mustWrite(t)
		fleet := keepIn(t, file, Config{Far: newFakeRemote()})
		ip, pictures := fleet.Space("ip", classed(policy.Keyed)), fleet.Space("sjbz/pictures", local)
		fleet.Read(t.Context())
		fleet.wantLog(t, `"snapshot read"`, "entries=1", "redis=1")
		if _, _, found := ip.Look("ip:v1:main:=1"); found {
			t.Error("an entry that Redis may have in a newer version was read")
		}
		if _, _, found := pictures.Look("sjbz/pictures:v1:main:#1"); !found {
			t.Error("what Redis does not hold was not read")
		}
		mustFetch(t, ip, "ip:v1:main:=2", &script{})
		fleet.mustWrite(t)
		fleet.wantLog(t, `"snapshot written"`, "entries=1")
	})
}

// TestSnapshotForgetsFailures: a key whose fills failed is tried again.
func TestSnapshotForgetsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := started(t, snapshotFile(t), Config{})
		s := first.Space("60s", usual())
		l := &script{err: errDown}
		for range 3 {
			if _, err := s.Get(t.Context(), "60s:v1:main:", Want{}, l); err == nil {
				t.Fatal("no failure")
			}
		}
		wantCalls(t, l, 1)
		second := restarted(t, first, func(c *Cache) { c.Space("60s", usual()) })
		second.wantLog(t, `"snapshot read"`, "entries=0")
		wantText(t, mustFetch(t, second.Space("60s", usual()), "60s:v1:main:", &script{text: "up again"}), "up again")
	})
}

// TestSnapshotIsWrittenNowAndThen, if there is something new.
func TestSnapshotIsWrittenNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		k := started(t, snapshotFile(t), Config{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.Run(ctx)
		}()
		written := func() float64 { synctest.Wait(); return k.result("written") }
		time.Sleep(20 * time.Minute)
		if n := written(); n != 0 {
			t.Errorf("an empty tier was written: %v entries", n)
		}
		fillAll(t, k.Cache, map[string]entry.Content{"60s:v1:main:": textContent("a")})
		time.Sleep(time.Duration((1+snapshotJitter)*float64(snapshotInterval)) + time.Second)
		if n := written(); n != 1 {
			t.Errorf("%v entries were written", n)
		}
		time.Sleep(20 * time.Minute)
		if n := written(); n != 1 {
			t.Errorf("written again, though nothing was stored: %v", n)
		}
		stop()
		<-done
		k.wantLog(t, "level=DEBUG", `"snapshot written"`)
	})
}

// TestManyPurgesDoNotKeepSnapshotsFromBeingWritten: one that comes before the snapshot that
// the last one asked for is written does not put it off for ever.
func TestManyPurgesDoNotKeepSnapshotsFromBeingWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		k := started(t, snapshotFile(t), Config{})
		fillAll(t, k.Cache, map[string]entry.Content{"yiyan:v1:main:": textContent("a")})
		go k.Run(ctx)
		for range 2 * snapshotInterval / snapshotAfterPurge {
			k.SetPurges(map[string]policy.Purge{"60s": {Hard: time.Now()}})
			time.Sleep(snapshotAfterPurge - time.Second)
		}
		synctest.Wait()
		if n := k.result("written"); n == 0 {
			t.Error("no snapshot was written")
		}
	})
}

// TestSnapshotIsBounded by cache.memory, and evicts nothing when it is read into less.
func TestSnapshotIsBounded(t *testing.T) {
	file := snapshotFile(t)
	first := started(t, file, Config{Memory: 64 << 20})
	s := first.Space("ip", classed(policy.Keyed))
	for i := range 2000 {
		mustFetch(t, s, fmt.Sprintf("ip:v1:main:=%d", i), &script{text: strings.Repeat("x", 3000+i)})
	}
	first.mustWrite(t)
	second := keepIn(t, file, Config{Memory: MinMemory})
	second.Space("ip", classed(policy.Keyed))
	second.Read(t.Context())
	read, full := second.result("read"), second.result("full")
	if read+full != 2000 || read < 100 || full < 100 {
		t.Errorf("%v read, %v without room", read, full)
	}
	for c := range policy.Classes {
		if n := second.near.counters.evicted[c].Load(); n > 0 {
			t.Errorf("%d values of class %s were evicted", n, c)
		}
	}
	first.limit = 1 << 20
	first.mustWrite(t)
	info, err := os.Stat(file)
	if err != nil || info.Size() > 1<<20 || info.Size() < 1<<19 {
		t.Errorf("%d bytes: %v", info.Size(), err)
	}
	third := keepIn(t, file, Config{})
	third.Space("ip", classed(policy.Keyed))
	third.Read(t.Context())
	if third.result("read") < 100 || testutil.ToFloat64(third.Snapshot.metrics.failures.WithLabelValues("read")) > 0 {
		t.Errorf("%v read:\n%s", third.result("read"), third.log)
	}
}
