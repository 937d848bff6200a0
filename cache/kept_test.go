package cache

import (
	"bytes"
	"context"
	"fmt"
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
	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/cache/snapshot"
)

// keeper is a cache with a snapshot, before Read.
type keeper struct {
	*Cache
	*snapshot.File
	keeps func(key string) bool
	reg   *prometheus.Registry
	log   *bytes.Buffer
}

func keepIn(t testing.TB, file string, cfg Config) *keeper {
	t.Helper()
	k := &keeper{
		Cache: newCache(t, cfg), reg: prometheus.NewRegistry(), log: &bytes.Buffer{},
		keeps: func(key string) bool { return !strings.Contains(key, ":old:") },
	}
	kept := k.Kept(func(key string) bool { return k.keeps(key) }, func() time.Time { return time.Time{} })
	k.File = snapshot.New(snapshot.Config{Path: file, Caches: []snapshot.Cache{kept}, Registerer: k.reg, Log: slog.New(slog.NewTextHandler(k.log, nil))})
	return k
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

// result is how many entries had this outcome.
func (k *keeper) result(name string) float64 {
	all, _ := k.reg.Gather()
	for _, family := range all {
		for _, m := range family.GetMetric() {
			if family.GetName() == "sundry_cache_snapshot_entries_total" && m.GetLabel()[0].GetValue() == name {
				return m.GetCounter().GetValue()
			}
		}
	}
	return -1
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
		if first.near.Hot(key) == nil {
			t.Fatal("not in the hot table")
		}
		if err := first.near.Queue(policy.Shared).Delete(key); err != nil {
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
	second := keepIn(t, first.Path, Config{})
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
			second := keepIn(t, first.Path, Config{})
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
	one := func(yield func(string, []byte) bool) { yield(key, raw) }
	f := snapshot.New(snapshot.Config{Path: k.Path, Caches: []snapshot.Cache{{Version: entry.LayoutVersion, All: one}}})
	f.Read(t.Context())
	if err := f.Write(t.Context()); err != nil {
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
		second := keepIn(t, first.Path, Config{})
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
		second := keepIn(t, first.Path, Config{})
		openSpaces(second.Cache, stock())
		now := time.Now()
		second.SetPurges(map[string]policy.Purge{"60s": {Hard: now}, "yiyan": {Soft: now}})
		spaceFor(second.Cache, "ip:").PurgeKey("ip:v1:main:=1", now)
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
		second := keepIn(t, first.Path, Config{})
		for key := range contents {
			mustFetch(t, spaceFor(second.Cache, key), key, &script{text: "new"})
		}
		leavesHot(t, spaceFor(second.Cache, "60s:v1:main:"), "60s:v1:main:")
		if err := second.near.Queue(policy.Shared).Delete("60s:v1:hot:"); err != nil {
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
		second.near.Put(policy.Keyed, k, made(t, s, k, textContent("new"), time.Now()))
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

// TestSnapshotIsReadIntoLess memory, and evicts nothing.
func TestSnapshotIsReadIntoLess(t *testing.T) {
	file := snapshotFile(t)
	first := started(t, file, Config{Memory: 64 << 20})
	s := first.Space("ip", classed(policy.Keyed))
	for i := range 2000 {
		mustFetch(t, s, fmt.Sprintf("ip:v1:main:=%d", i), &script{text: strings.Repeat("x", 3000+i)})
	}
	first.mustWrite(t)
	second := keepIn(t, file, Config{Memory: near.MinMemory})
	second.Space("ip", classed(policy.Keyed))
	second.Read(t.Context())
	read, full := second.result("read"), second.result("full")
	if read+full != 2000 || read < 100 || full < 100 {
		t.Errorf("%v read, %v without room", read, full)
	}
	for c := range policy.Classes {
		if n := second.near.Evicted(c); n > 0 {
			t.Errorf("%d values of class %s were evicted", n, c)
		}
	}
}

// FuzzKept mutates an entry of a file with right checks: what is read is sane.
func FuzzKept(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{7, 0, 255}, false)
	f.Add([]byte{11, 0, 127, 4, 0, 255}, true)
	const key = "ip:v1:main:=1"
	k := keepIn(f, snapshotFile(f), Config{Memory: near.MinMemory})
	s := k.Space("ip", classed(policy.Keyed))
	now := time.Now()
	f.Fuzz(func(t *testing.T, patch []byte, negative bool) {
		c := sound()
		if negative {
			c = negativeContent()
		}
		raw := rawOf(t, c, &entry.Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Minute)})
		mutate(raw, patch)
		if k.Caches[0].Admit(key, raw) != snapshot.Read {
			return
		}
		e, found := k.near.Head(policy.Keyed, key)
		if !found {
			t.Fatal("read, but not found")
		}
		whole, complete := e, true
		if e.Split() {
			whole, complete = k.near.Join(policy.Keyed, key, &e)
		}
		if !complete {
			t.Fatal("not complete")
		}
		sane(t, s, &whole)
		k.near.Remove(policy.Keyed, key)
	})
}
