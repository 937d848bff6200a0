package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/durable"
)

// table is a cache of texts.
type table map[string]string

func (c table) cache() Cache {
	return Cache{
		Version: 7, Largest: 100,
		All: func(yield func(string, []byte) bool) {
			for _, key := range slices.Sorted(maps.Keys(c)) {
				if !yield(key, []byte(c[key])) {
					return
				}
			}
		},
		Admit: func(key string, value []byte) Outcome {
			if key == "gone" {
				return Gone
			}
			c[key] = string(value)
			return Read
		},
	}
}

// twoTables are a snapshot of two caches, with its log.
func twoTables(path string, one, two table) (f *File, log *bytes.Buffer) {
	log = &bytes.Buffer{}
	return New(Config{Path: path, Caches: []Cache{one.cache(), two.cache()}, Log: slog.New(slog.NewTextHandler(log, nil))}), log
}

func stock() (one, two table) {
	return table{"a": "alpha", "b": strings.Repeat("b", 100), "gone": "x", "same": "one"}, table{"same": "two", "empty": "", "": "no key"}
}

// written is a snapshot of the stock.
func written(t *testing.T) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "snapshot")
	f, _ := twoTables(path, table{}, table{})
	f.Read(t.Context())
	one, two := stock()
	f.Caches = []Cache{one.cache(), two.cache()}
	if err := f.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func wantLog(t *testing.T, log *bytes.Buffer, words ...string) {
	t.Helper()
	for line := range strings.Lines(log.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return
		}
	}
	t.Errorf("no line with %q in:\n%s", words, log)
}

// leavesNothing requires that no temporary file is left.
func leavesNothing(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), durable.Prefix(path)) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestTheFileIsReadOnce: the caches have what they had, and the file is gone.
func TestTheFileIsReadOnce(t *testing.T) {
	path, content := written(t)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	one, two := table{}, table{}
	f, log := twoTables(path, one, two)
	f.Read(t.Context())
	wantOne, wantTwo := stock()
	delete(wantOne, "gone")
	if !maps.Equal(one, wantOne) || !maps.Equal(two, wantTwo) {
		t.Errorf("%v, %v", one, two)
	}
	wantLog(t, log, "level=INFO", `"snapshot read"`, "entries=6", "gone=1", fmt.Sprint("bytes=", len(content)))
	if n := testutil.ToFloat64(f.metrics.values.WithLabelValues("read")); n != 6 {
		t.Errorf("%v values counted as read", n)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a crash would bring back what is purged from now on: %v", err)
	}
}

// readOf reads these bytes into two empty caches.
func readOf(t *testing.T, content []byte) (one, two table, r *contents, err error) {
	t.Helper()
	one, two = table{}, table{}
	f, _ := twoTables("", one, two)
	r = &contents{bytes: int64(len(content))}
	err = f.readFrom(t.Context(), bytes.NewReader(content), r)
	return one, two, r, err
}

// TestATornOrDamagedFile, cut or changed at each byte: nothing is read that was not written, and damage is noticed.
func TestATornOrDamagedFile(t *testing.T) {
	_, content := written(t)
	wantOne, wantTwo := stock()
	for at := range content {
		for change := range 4 {
			damaged := slices.Clone(content)
			if damaged[at] ^= byte(1<<(2*change) | 1); change == 0 {
				damaged = content[:at]
			}
			one, two, r, err := readOf(t, damaged)
			if err == nil || r.outcomes[Broken] > 1 {
				t.Errorf("byte %d changed: %v, %v", at, r.outcomes, err)
			}
			for key, value := range one {
				if value != wantOne[key] {
					t.Errorf("byte %d changed: %s is %q", at, key, value)
				}
			}
			for key, value := range two {
				if value != wantTwo[key] {
					t.Errorf("byte %d changed: %s is %q", at, key, value)
				}
			}
		}
	}
}

// forged is a snapshot with right checks.
func forged(t *testing.T, write func(e *encoder)) []byte {
	t.Helper()
	var b bytes.Buffer
	e := newEncoder(&b)
	if err := e.begin([]byte{7, 7}, time.Now()); err != nil {
		t.Fatal(err)
	}
	write(e)
	if err := e.out.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestForgedFiles have right checks, and are not believed for that.
func TestForgedFiles(t *testing.T) {
	ends := func(e *encoder) { _ = e.end() }
	for name, row := range map[string]struct {
		content []byte
		err     error
	}{
		"an empty snapshot":        {forged(t, ends), nil},
		"values are missing":       {forged(t, func(e *encoder) { e.values = 3; ends(e) }), errTorn},
		"a cache that is unknown":  {forged(t, func(e *encoder) { _ = e.value(2, "k", nil); ends(e) }), errTorn},
		"a value that is too long": {forged(t, func(e *encoder) { _ = e.value(0, "k", make([]byte, 101)); ends(e) }), errTorn},
		"a key that is too long":   {forged(t, func(e *encoder) { _ = e.value(0, strings.Repeat("k", mostKey+1), nil); ends(e) }), errTorn},
		"more than the file holds": {forged(t, func(e *encoder) { e.lengths(0, mostKey, 100); _ = e.out.Flush() }), errTorn},
		"a length without bounds":  {forged(t, func(e *encoder) { e.lengths(0, math.MaxUint64, math.MaxUint64); _ = e.out.Flush() }), errTorn},
		"without an end":           {forged(t, func(*encoder) {}), errTorn},
	} {
		if _, _, _, err := readOf(t, row.content); !errors.Is(err, row.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead changes a snapshot and makes its checks right again, as far as it can be read: reading never panics, nor takes more memory
// than the file has bytes.
func FuzzRead(f *testing.F) {
	f.Add(byte(0), uint64(1), uint64(3), []byte("kvv"))
	f.Add(byte(255), uint64(0), uint64(0), []byte{})
	f.Add(byte(1), uint64(mostKey), uint64(100), []byte("k"))
	f.Fuzz(func(t *testing.T, kind byte, key, value uint64, rest []byte) {
		content := forged(t, func(e *encoder) {
			e.lengths(kind, key, value)
			e.write(rest)
			_ = e.check()
		})
		_, _, r, err := readOf(t, content)
		if n := r.outcomes[Read] + r.outcomes[Gone]; n > 1 || n == 1 && uint64(len(rest)) < key+value || err == nil && kind != endOfFile {
			t.Errorf("%v, %v", r.outcomes, err)
		}
	})
}

// TestForeignFile is a cold start, and left as it is: whoever names the wrong file loses
// nothing.
func TestForeignFile(t *testing.T) {
	const text = "listen: :8080\n"
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, log := twoTables(path, table{}, table{})
	f.Read(t.Context())
	wantLog(t, log, "level=WARN", `"the snapshot was not read: the cache is cold"`, "not a snapshot")
	if err := f.Write(t.Context()); !errors.Is(err, errForeign) {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("%q %v", b, err)
	}
	leavesNothing(t, path)
}

// TestAPipeIsForeign too, and nobody waits for its other end.
func TestAPipeIsForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	f, log := twoTables(path, table{}, table{})
	f.Read(t.Context())
	wantLog(t, log, "level=WARN", "not a snapshot", "expected a regular file")
	if err := f.Write(t.Context()); !errors.Is(err, errForeign) {
		t.Error(err)
	}
}

// TestAnotherVersion of the file, of the values or with other caches is a cold start, and is replaced by the next write.
func TestAnotherVersion(t *testing.T) {
	for name, change := range map[string]func(f *File, content []byte){
		"of the file":     func(_ *File, content []byte) { content[len(magic)]++ },
		"of the values":   func(f *File, _ []byte) { f.Caches[1].Version++ },
		"of other caches": func(f *File, _ []byte) { f.Caches = f.Caches[:1] },
	} {
		path, content := written(t)
		f, log := twoTables(path, table{}, table{})
		change(f, content)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		f.Read(t.Context())
		wantLog(t, log, "level=INFO", "another version")
		if err := f.Write(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Read(t.Context())
		wantLog(t, log, `"snapshot read"`, "entries=0")
	}
}

// TestNoSnapshotYet is a cold start without a failure. What is empty was torn by a crash.
func TestNoSnapshotYet(t *testing.T) {
	f, log := twoTables(filepath.Join(t.TempDir(), "snapshot"), table{}, table{})
	f.Read(t.Context())
	wantLog(t, log, "level=INFO", "no snapshot yet")
	if n := testutil.ToFloat64(f.metrics.failures.WithLabelValues("read")); n != 0 {
		t.Errorf("%v failures", n)
	}
	if err := f.Write(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestAFileThatCannotBeWritten is said at the start, and at the end.
func TestAFileThatCannotBeWritten(t *testing.T) {
	f, log := twoTables(filepath.Join(t.TempDir(), "gone", "snapshot"), table{}, table{})
	f.Read(t.Context())
	wantLog(t, log, "level=WARN", "snapshots cannot be written")
	if err := f.Write(t.Context()); err == nil {
		t.Error("written to a directory that is not there")
	}
	wantLog(t, log, "level=WARN", "the snapshot was not written")
	if n := testutil.ToFloat64(f.metrics.failures.WithLabelValues("write")); n != 2 {
		t.Errorf("%v failures counted", n)
	}
}

// TestAFileThatCannotBeRemoved is emptied, and nothing of it is read: the next start would read it again.
func TestAFileThatCannotBeRemoved(t *testing.T) {
	path, _ := written(t)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if tmp, err := os.CreateTemp(dir, ""); err == nil {
		t.Skip("this user may write everywhere: ", tmp.Close())
	}
	one := table{}
	f, log := twoTables(path, one, table{})
	f.Read(t.Context())
	wantLog(t, log, "level=WARN", "remove the file before the next start")
	if content, err := os.ReadFile(path); err != nil || len(content) > 0 || len(one) > 0 {
		t.Errorf("%d bytes remain, %d values were read: %v", len(content), len(one), err)
	}
}

// fullDisk takes so many bytes.
type fullDisk struct{ room int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if len(b) > d.room {
		n := d.room
		d.room = 0
		return n, syscall.ENOSPC
	}
	d.room -= len(b)
	return len(b), nil
}

// TestDiskFull at any moment of a write is an error of that write.
func TestDiskFull(t *testing.T) {
	one, two := table{}, table{}
	for i := range 10_000 {
		one[fmt.Sprint(i)] = strings.Repeat("x", 100)
	}
	f, _ := twoTables("", one, two)
	whole := newEncoder(io.Discard)
	if err := f.encode(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	for room := 0; room < int(whole.bytes); room += 100_000 {
		if err := f.encode(t.Context(), newEncoder(&fullDisk{room})); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

// TestABrokenOffStartKeepsTheFile: before it is read, it is not replaced by less.
func TestABrokenOffStartKeepsTheFile(t *testing.T) {
	path, content := written(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	f, _ := twoTables(path, table{}, table{})
	for range 2 {
		if err := f.Write(t.Context()); !errors.Is(err, errNotRead) {
			t.Error(err)
		}
		f.Read(gone)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
		t.Errorf("%d bytes of %d: %v", len(after), len(content), err)
	}
}

// TestAWriteThatTakesTooLong is given up, and leaves nothing.
func TestAWriteThatTakesTooLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	ctx, cancel := context.WithCancel(t.Context())
	slow := Cache{All: func(yield func(string, []byte) bool) {
		for yield("k", []byte("v")) {
			cancel()
		}
	}}
	f := New(Config{Path: path, Caches: []Cache{slow}})
	f.Read(ctx)
	if err := f.Write(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	leavesNothing(t, path)
}

// TestAbandonedTemporaryFiles are removed at the start, but not one that may still be
// written.
func TestAbandonedTemporaryFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	old, young := filepath.Join(filepath.Dir(path), ".snapshot-1"), filepath.Join(filepath.Dir(path), ".snapshot-2")
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, []byte(magic), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	f, _ := twoTables(path, table{}, table{})
	f.Read(t.Context())
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}
