package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/durable"
	"sundry/cache/entry"
	"sundry/cache/policy"
)

// few is a snapshot of four small entries, the contents by key, and where each record
// ends: what is complete up to there is in the file.
func few(t testing.TB) (file []byte, contents map[string]string, ends []int) {
	t.Helper()
	var b bytes.Buffer
	enc := newSnapshotEncoder(&b)
	now := time.Now()
	if err := enc.begin(now); err != nil {
		t.Fatal(err)
	}
	contents = map[string]string{}
	for i, key := range []string{"60s:v1:main:", "ip:v1:main:=192.0.2.1", "ip:v1:main:=nobody", "yiyan:v1:main:"} {
		c := textContent("what was said of " + key)
		switch i {
		case 2:
			c = negativeContent()
		case 3:
			c = textContent("one", "one")
		}
		if err := enc.record(key, rawOf(t, c, &entry.Meta{Created: now.Add(-time.Second), Modified: now.Add(-time.Second)})); err != nil {
			t.Fatal(err)
		}
		if contents[key] = c.Negative; c.Negative == "" {
			contents[key] = string(c.Forms[0][0].Data)
		}
		ends = append(ends, int(enc.bytes))
	}
	if err := enc.end(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), contents, ends
}

// reader is a cache into which damaged snapshots are read, one after the other.
func reader(t testing.TB) *keeper {
	t.Helper()
	k := keepIn(t, filepath.Join(t.TempDir(), "none"), Config{Memory: MinMemory})
	openSpaces(k.Cache, stock())
	return k
}

// found are the contents that were read, by key. It removes them from the cache.
func (k *keeper) found(t testing.TB, keys map[string]string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for key := range keys {
		s := spaceFor(k.Cache, key)
		if answer := (Answer{}); s.GetNear(t.Context(), key, Want{}, &script{err: errDown}, &answer) {
			got[key] = string(answer.Rep.Data) + answer.Message
		}
		k.near.remove(s.policy.Class, key)
	}
	return got
}

// TestTornSnapshot is cut at every byte: what is complete is read, and nothing else.
func TestTornSnapshot(t *testing.T) {
	k := reader(t)
	file, contents, ends := few(t)
	for cut := range len(file) + 1 {
		complete := 0
		for complete < len(ends) && ends[complete] <= cut {
			complete++
		}
		r, err := k.readFrom(t.Context(), bytes.NewReader(file[:cut]), int64(cut))
		if whole := cut == len(file); (err == nil) != whole || !whole && !errors.Is(err, errTorn) || r.entries != complete {
			t.Fatalf("cut at %d of %d: %d entries, want %d: %v", cut, len(file), r.entries, complete, err)
		}
		got := k.found(t, contents)
		for key, text := range got {
			if text != contents[key] {
				t.Errorf("cut at %d: %s is %q", cut, key, text)
			}
		}
		if len(got) != complete {
			t.Errorf("cut at %d: %d entries are served, want %d", cut, len(got), complete)
		}
	}
}

// TestDamagedSnapshot has each of its bytes changed: an entry loses only itself, and no
// content is ever another one.
func TestDamagedSnapshot(t *testing.T) {
	k := reader(t)
	file, contents, ends := few(t)
	for at := range file {
		damaged := slices.Clone(file)
		damaged[at] ^= byte(1 + rand.IntN(255))
		r, err := k.readFrom(t.Context(), bytes.NewReader(damaged), int64(len(damaged)))
		if r.entries > len(ends)-1 && at < ends[len(ends)-1] {
			t.Errorf("byte %d changed: all entries were read: %v", at, err)
		}
		if record := slices.IndexFunc(ends, func(end int) bool { return at < end }); record >= 0 && at >= snapshotHead {
			from := snapshotHead
			if record > 0 {
				from = ends[record-1]
			}
			if want := len(ends) - 1; at >= from+snapshotRecordHead && (r.entries != want || err != nil || r.skipped[skipBroken] != 1) {
				t.Errorf("byte %d changed, of record %d: %d entries read, want %d: %v", at, record, r.entries, want, err)
			}
		}
		for key, text := range k.found(t, contents) {
			if text != contents[key] {
				t.Errorf("byte %d changed: %s is %q", at, key, text)
			}
		}
	}
}

// forgeChecks makes the checks and digests right again, as far as the lengths go.
func forgeChecks(file []byte) {
	le := binary.LittleEndian
	if len(file) < snapshotHead {
		return
	}
	copy(file[32:], withCheck(slices.Clone(file[:32]))[32:])
	for rest := file[snapshotHead:]; len(rest) >= snapshotRecordHead; {
		k, v := uint64(le.Uint32(rest)), uint64(le.Uint32(rest[4:]))
		end := min(snapshotRecordHead+k+v, uint64(len(rest)))
		if k > 0 {
			enc := newSnapshotEncoder(io.Discard)
			enc.hash.Reset()
			_, _ = enc.hash.Write(rest[snapshotRecordHead:end])
			le.PutUint64(rest[8:], enc.hash.Sum64())
		}
		copy(rest[16:], withCheck(slices.Clone(rest[:16]))[16:])
		rest = rest[end:]
	}
}

// FuzzSnapshot changes and cuts a snapshot, and makes its checks right again or does not:
// it never panics, reads no more than there is, and what it reads can be served. Without
// forged checks, what is served is what was written.
func FuzzSnapshot(f *testing.F) {
	f.Add([]byte{}, uint16(0), false)
	f.Add([]byte{16, 0, 1}, uint16(0), true)
	f.Add([]byte{40, 0, 200, 44, 0, 1}, uint16(3), true)
	f.Add([]byte{43, 0, 255, 47, 0, 255}, uint16(0), true)
	f.Add([]byte{100, 0, 7, 120, 0, 9}, uint16(0), true)
	k := reader(f)
	f.Fuzz(func(t *testing.T, patch []byte, cut uint16, forge bool) {
		file, contents, _ := few(t)
		mutate(file, patch)
		file = file[:len(file)-int(cut)%len(file)]
		if forge {
			forgeChecks(file)
		}
		r, err := k.readFrom(t.Context(), bytes.NewReader(file), int64(len(file)))
		if r.entries+r.skipped[skipBroken] > len(file)/snapshotRecordHead {
			t.Errorf("%d entries and %d broken ones in %d bytes: %v", r.entries, r.skipped[skipBroken], len(file), err)
		}
		for key := range contents {
			s := spaceFor(k.Cache, key)
			if e, ok := k.near.last(s.policy.Class, key); ok {
				whole, complete := e, true
				if e.Split() {
					whole, complete = k.near.join(s.policy.Class, key, &e)
				}
				if !complete {
					t.Fatalf("%s is not complete", key)
				}
				sane(t, s, &whole)
			}
		}
		if got := k.found(t, contents); !forge {
			for key, text := range got {
				if text != contents[key] {
					t.Errorf("%s is %q", key, text)
				}
			}
		}
		if forge { // entries under other keys
			for c := range policy.Classes {
				_ = k.near.class[c].Reset()
			}
			k.near.hot.table.InvalidateAll()
		}
	})
}

// TestForgedSnapshot has right checks, and is not believed for that.
func TestForgedSnapshot(t *testing.T) {
	k := reader(t)
	now := time.Now()
	raw := rawOf(t, textContent("a"), &entry.Meta{Created: now, Modified: now})
	write := func(records func(*snapshotEncoder)) []byte {
		var b bytes.Buffer
		enc := newSnapshotEncoder(&b)
		if err := enc.begin(now); err != nil {
			t.Fatal(err)
		}
		records(enc)
		if err := enc.out.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	head := func(key, value int, digest uint64) func(*snapshotEncoder) {
		return func(enc *snapshotEncoder) { _ = enc.write(recordHeadOf(key, value, digest)) }
	}
	for name, r := range map[string]struct {
		file []byte
		err  error
		want snapshotContents
	}{
		"a key that names a part":  {write(func(enc *snapshotEncoder) { _ = enc.record("ip:v1:main:\x00a", raw); _ = enc.end() }), nil, snapshotContents{skipped: [skipReasons]int{skipBroken: 1}}},
		"more than the file holds": {write(head(1, k.near.largestEntry(), 0)), errTorn, snapshotContents{}},
		"entries are missing":      {write(head(0, 0, 3)), errTorn, snapshotContents{}},
		"an entry without a key":   {write(head(0, 40, 0)), errTorn, snapshotContents{}},
	} {
		got, err := k.readFrom(t.Context(), bytes.NewReader(r.file), int64(len(r.file)))
		if !errors.Is(err, r.err) || got.entries != r.want.entries || got.skipped != r.want.skipped {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		d := newSnapshotDecoder(bytes.NewReader(r.file), int64(len(r.file)), k.near.largestEntry())
		_ = d.begin()
		if _, _, _ = d.next(); cap(d.buf) > len(r.file) {
			t.Errorf("%s: %d bytes were allocated for a file of %d", name, cap(d.buf), len(r.file))
		}
	}
}

// TestForeignFile is a cold start, and left as it is: whoever names the wrong file loses
// nothing.
func TestForeignFile(t *testing.T) {
	const text = "listen: :8080\n"
	file := snapshotFile(t)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	k := started(t, file, Config{})
	k.wantLog(t, "level=WARN", `"the snapshot was not read: the cache is cold"`, "not a snapshot")
	fillAll(t, k.Cache, stock())
	if err := k.Write(t.Context()); !errors.Is(err, errForeign) {
		t.Error(err)
	}
	k.SetPurges(map[string]policy.Purge{policy.AllEndpoints: {Hard: time.Now()}})
	if b, err := os.ReadFile(file); err != nil || string(b) != text {
		t.Errorf("%q %v", b, err)
	}
	leavesNothing(t, k)
}

// leavesNothing requires that no temporary file is left.
func leavesNothing(t *testing.T, k *keeper) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(k.file))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), durable.Prefix(k.file)) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestAPipeIsForeign too, and nobody waits for its other end.
func TestAPipeIsForeign(t *testing.T) {
	file := snapshotFile(t)
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip(err)
	}
	k := started(t, file, Config{})
	k.wantLog(t, "level=WARN", "not a snapshot")
	if err := k.Write(t.Context()); !errors.Is(err, errForeign) {
		t.Error(err)
	}
}

// TestSnapshotOfAnotherVersion of the file or of its entries is a cold start, and
// replaced by the next write.
func TestSnapshotOfAnotherVersion(t *testing.T) {
	for _, at := range []int{16, 17} {
		file := snapshotFile(t)
		b, contents, _ := few(t)
		b[at]++
		forgeChecks(b)
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		k := keepIn(t, file, Config{})
		openSpaces(k.Cache, stock())
		k.Read(t.Context())
		k.wantLog(t, "level=INFO", "another version")
		if got := k.found(t, contents); len(got) > 0 {
			t.Errorf("read: %v", got)
		}
		k.mustWrite(t)
		if again := started(t, file, Config{}); strings.Contains(again.log.String(), "another version") {
			t.Error("not replaced")
		}
	}
}

// TestNoSnapshotYet is a cold start without a failure.
func TestNoSnapshotYet(t *testing.T) {
	k := started(t, snapshotFile(t), Config{})
	k.wantLog(t, "level=INFO", "no snapshot yet")
	if n := testutil.ToFloat64(k.Snapshot.metrics.failures.WithLabelValues("read")); n != 0 {
		t.Errorf("%v failures", n)
	}
	k.mustWrite(t)
}

// TestSnapshotThatCannotBeWritten is said at the start and at each write; what is there
// stays.
func TestSnapshotThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	k := keepIn(t, filepath.Join(dir, "gone", "snapshot"), Config{})
	k.Read(t.Context())
	k.wantLog(t, "level=WARN", "snapshots cannot be written")
	fillAll(t, k.Cache, stock())
	if err := k.Write(t.Context()); err == nil {
		t.Error("written to a directory that is not there")
	}
	k.wantLog(t, "level=WARN", "the snapshot was not written")
	if n := testutil.ToFloat64(k.Snapshot.metrics.failures.WithLabelValues("write")); n != 2 {
		t.Errorf("%v failures counted", n)
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
	k := started(t, snapshotFile(t), Config{})
	fillAll(t, k.Cache, stock())
	var whole bytes.Buffer
	w, err := k.dump(t.Context(), &whole, 0)
	if err != nil || int64(whole.Len()) != w.bytes {
		t.Fatalf("%d bytes of %d: %v", whole.Len(), w.bytes, err)
	}
	for room := 0; room < whole.Len(); room += 1000 {
		if _, err := k.dump(t.Context(), &fullDisk{room}, 0); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("with room for %d bytes: %v", room, err)
		}
	}
}

// TestABrokenOffStartKeepsTheFile: before it is read to its end, it is not replaced by
// less.
func TestABrokenOffStartKeepsTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := started(t, snapshotFile(t), Config{})
		fillAll(t, first.Cache, stock())
		first.mustWrite(t)
		before, err := os.ReadFile(first.file)
		if err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		second := keepIn(t, first.file, Config{})
		if err := second.Write(t.Context()); !errors.Is(err, errNotRead) {
			t.Error(err)
		}
		second.Read(gone)
		if err := second.Write(t.Context()); !errors.Is(err, errNotRead) {
			t.Error(err)
		}
		if after, err := os.ReadFile(first.file); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%d bytes of %d: %v", len(after), len(before), err)
		}
	})
}

// TestAWriteThatTakesTooLong is given up, and leaves the file of before.
func TestAWriteThatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := started(t, snapshotFile(t), Config{Memory: 64 << 20})
		fillAll(t, k.Cache, map[string]entry.Content{"60s:v1:main:": textContent("a")})
		k.mustWrite(t)
		before, err := os.Stat(k.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"60s:v1:1:", "60s:v1:2:", "60s:v1:3:"} {
			fillAll(t, k.Cache, map[string]entry.Content{key: long(1 << 20)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), snapshotPause+time.Millisecond)
		defer cancel()
		if _, err := k.write(ctx, snapshotPause); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if after, err := os.Stat(k.file); err != nil || after.Size() != before.Size() {
			t.Errorf("%d bytes, were %d: %v", after.Size(), before.Size(), err)
		}
		leavesNothing(t, k)
	})
}

// TestAWriteRestsOften has hits wait for a short stretch of it at most, be they on its core.
func TestAWriteRestsOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := started(t, snapshotFile(t), Config{Memory: 64 << 20})
		contents := map[string]entry.Content{}
		for i := range 300 {
			contents[fmt.Sprintf("60s:v1:%d:", i)] = long(2 << 10)
		}
		fillAll(t, k.Cache, contents)
		w, err := k.write(t.Context(), snapshotPause)
		least := w.bytes / (64 << 10) // those of the hot table are looked at twice
		if rests := int64(w.took / snapshotPause); err != nil || rests < least || rests > 2*least {
			t.Errorf("%d rests in %d bytes: %v", rests, w.bytes, err)
		}
	})
}

// TestAWriteRestsInLargeEntries by all that it writes of them: what the tier holds of one in one piece
// is its head.
func TestAWriteRestsInLargeEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := started(t, snapshotFile(t), Config{Memory: 256 << 20})
		contents := map[string]entry.Content{}
		for i := range 20 {
			contents[fmt.Sprintf("ip:v1:main:=%d", i)] = long(1 << 20)
		}
		fillAll(t, k.Cache, contents)
		k.near.hot.table.InvalidateAll()
		w, err := k.write(t.Context(), snapshotPause)
		if rests := int64(w.took / snapshotPause); err != nil || w.entries < 10 || rests < w.bytes/snapshotStretch-1 {
			t.Errorf("%d rests in %d bytes of %d entries: %v", rests, w.bytes, w.entries, err)
		}
	})
}

// TestAWriteRestsAmongWhatItLeavesOut as often as among what it writes: to look at it takes as long.
func TestAWriteRestsAmongWhatItLeavesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := started(t, snapshotFile(t), Config{Memory: 64 << 20})
		contents, bytes := map[string]entry.Content{}, 0
		for i := range 300 {
			contents[fmt.Sprintf("60s:v1:%d:", i)] = long(2 << 10)
			bytes += 2 << 10
		}
		fillAll(t, k.Cache, contents)
		time.Sleep(time.Second)
		k.SetPurges(map[string]policy.Purge{policy.AllEndpoints: {Soft: time.Now()}})
		w, err := k.write(t.Context(), snapshotPause)
		if rests := int(w.took / snapshotPause); err != nil || w.entries > 0 || rests < bytes/snapshotStretch {
			t.Errorf("%d entries, %d rests in %d bytes: %v", w.entries, rests, bytes, err)
		}
	})
}

// TestAbandonedTemporaryFiles are removed at the start, but not one that may still be
// written.
func TestAbandonedTemporaryFiles(t *testing.T) {
	file := snapshotFile(t)
	old, young := filepath.Join(filepath.Dir(file), ".snapshot-1"), filepath.Join(filepath.Dir(file), ".snapshot-2")
	for _, name := range []string{old, young} {
		if err := os.WriteFile(name, []byte(snapshotMagic), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	started(t, file, Config{})
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error(err)
	}
}

// benchSnapshot is a tier of small entries and some large ones.
func benchSnapshot(b *testing.B) *keeper {
	b.Helper()
	k := started(b, snapshotFile(b), Config{Memory: DefaultMemory})
	p := classed(policy.Keyed)
	p.TTL = time.Hour
	s := k.Space("ip", p)
	for i := range 70_000 {
		key := "ip:v1:main:=" + strconv.Itoa(i)
		k.near.put(policy.Keyed, key, made(b, s, key, textContent(strings.Repeat("x", 300+i%700)), time.Now()))
	}
	return k
}

func BenchmarkSnapshotWrite(b *testing.B) {
	k := benchSnapshot(b)
	for b.Loop() {
		w, err := k.write(b.Context(), 0)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(w.bytes)
		b.ReportMetric(float64(w.entries), "entries")
	}
}

func BenchmarkSnapshotRead(b *testing.B) {
	k := benchSnapshot(b)
	w, err := k.write(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(w.bytes)
	for b.Loop() {
		b.StopTimer()
		next := keepIn(b, k.file, Config{Memory: DefaultMemory})
		next.Space("ip", classed(policy.Keyed))
		b.StartTimer()
		next.Read(b.Context())
		if next.result("read") != float64(w.entries) {
			b.Fatalf("%v of %d read:\n%s", next.result("read"), w.entries, next.log)
		}
	}
}
