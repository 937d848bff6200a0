package web

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestARestartKeepsOctets of fields, which need be no UTF-8.
func TestARestartKeepsOctets(t *testing.T) {
	const name = "attachment; filename=\xb1\xa8\xb1\xed.xls" // in GBK
	file := filepath.Join(t.TempDir(), "file")
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body", "Content-Disposition: "+name))
	if _, err := s.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if n, err := again.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Hour)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	for _, kept := range []*Store{s, again} {
		if got := kept.Get("x/a")[0].Header.Get("Content-Disposition"); got != name {
			t.Errorf("%q", got)
		}
	}
}

// TestASoftPurgeOutlivesARestart, here and for who finds what was purged in Redis.
func TestASoftPurgeOutlivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body", "Cache-Control: max-age=1000"))
	s.Purge(Purge{At: noon.Add(10 * time.Second), Soft: true})
	if _, err := s.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if n, err := again.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Hour)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if left := again.Get("x/a")[0].Left(noon.Add(10 * time.Second)); left > 0 {
		t.Errorf("it is fresh for %v", left)
	}
}

// TestARestartKeepsResponses, as they were, in their order, once.
func TestARestartKeepsResponses(t *testing.T) {
	file, rules := filepath.Join(t.TempDir(), "file"), func(key string) *Rules {
		if key == "gone/a" {
			return nil
		}
		return &usualRules
	}
	s := newTestStore(t, 1<<20)
	for key, after := range map[string]int{"x/a": 1, "x/b": 2, "gone/a": 3} {
		s.Put(key, object(after, "old "+key, "Etag: \"e\""))
		s.Put(key, object(after+60, "new "+key, "Etag: \"f\"", "Cache-Tag: t"))
	}
	s.Put("x/a", object(5, "other").forRequest("X-A: 2"))
	if n, err := s.WriteFile(file); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	again := newTestStore(t, 1<<20)
	again.Purge(Purge{At: noon.Add(time.Hour), Key: "x/b"})
	if n, err := again.ReadFile(file, rules, noon.Add(2*time.Second), noon.Add(time.Hour)); n != 2 || err != nil {
		t.Error(n, err)
	}
	if stored(again, "x/a", "1") != "new x/a" || stored(again, "x/a", "2") != "other" || stored(again, "x/b", "1") != "" || stored(again, "gone/a", "1") != "" {
		t.Error("not what was kept")
	}
	one := selector("X-A: 1")
	if o, was := again.Get("x/a").Select(one, false), s.Get("x/a").Select(one, false); o.Tag() != was.Tag() || !o.Born.Equal(was.Born) || o.Tags[0] != "t" {
		t.Errorf("%+v", o)
	}
	if n, err := again.ReadFile(file, rules, time.Time{}, noon.Add(time.Hour)); n != 0 || err != nil {
		t.Error("read once more", n, err)
	}
	for at := 0; at < len(whole); at += 7 { // cut off or damaged anywhere, nothing comes that was not there
		for _, damaged := range [][]byte{whole[:at], append(append(bytes.Clone(whole[:at]), whole[at]^0x55), whole[at+1:]...)} {
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			third := newTestStore(t, 1<<20)
			if n, err := third.ReadFile(file, rules, time.Time{}, noon.Add(time.Hour)); n > 3 || n > 2 && err == nil && len(damaged) == len(whole) { // a cut between two is none that can be seen
				t.Errorf("%d responses, %v, of what was damaged at %d", n, err, at)
			}
			if body := stored(third, "x/a", "1"); body != "" && body != "new x/a" {
				t.Errorf("%q of what was damaged at %d", body, at)
			}
		}
	}
}

// TestARestartAfterTheClockWasSetBack keeps nothing of the future.
func TestARestartAfterTheClockWasSetBack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	s, again := newTestStore(t, 1<<20), newTestStore(t, 1<<20)
	s.Put("x/before", object(0, "body"))
	s.Put("x/after", object(2, "body"))
	if _, err := s.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	n, err := again.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Second))
	if n != 1 || err != nil || stored(again, "x/after", "1") != "" {
		t.Error(n, err)
	}
}

// TestARestartBringsNothingBackLater: where the file cannot be removed, because its directory cannot be written, it is emptied.
func TestARestartBringsNothingBackLater(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	s, rules := newTestStore(t, 1<<20), func(string) *Rules { return &usualRules }
	s.Put("x/a", object(0, "body"))
	if _, err := s.WriteFile(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if tmp, err := os.CreateTemp(dir, ""); err == nil {
		t.Skip("this user may write everywhere: ", tmp.Close())
	}
	for range 2 {
		if n, err := newTestStore(t, 1<<20).ReadFile(file, rules, time.Time{}, noon.Add(time.Hour)); n != 0 || err == nil {
			t.Error(n, err)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if n, _ := newTestStore(t, 1<<20).ReadFile(file, rules, time.Time{}, noon.Add(time.Hour)); n != 0 {
		t.Errorf("%d responses, of which some may have been purged", n)
	}
}

// TestPrivateURIsAreInNoFile.
func TestPrivateURIsAreInNoFile(t *testing.T) {
	s := newTestStore(t, 1<<20)
	s.Private = func(key string) bool { return strings.Contains(key, "token=") }
	s.Put("/x?token=secret", object(0, "a"))
	s.Put("/x?page=1", object(0, "b"))
	if n, err := s.WriteFile(filepath.Join(t.TempDir(), "apis")); n != 1 || err != nil {
		t.Errorf("%d are written: %v", n, err)
	}
}

// TestFilesOfOthersAreLeft: of other programs, and of later versions, which may come back.
func TestFilesOfOthersAreLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "apis")
	s := newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body"))
	rules := func(string) *Rules { return &usualRules }
	for begin, left := range map[string]bool{
		"my only copy": true, "s": false, "": false, "sundry": false, "sundry web": false, "sundry web 4": false, "sundry web 4\n": false, "sundry web 3\n...": false, "sundry web 2\n...": false, "sundry web 1\n...": false,
		"sundry web 5\n...": true, "sundry web 10\n...": true, "sundry web two\n...": true, "sundry website": true, "sundry webpages of mine": true, "Sundry": true,
	} {
		if err := os.WriteFile(file, []byte(begin), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := newTestStore(t, 1<<20).ReadFile(file, rules, time.Time{}, noon.Add(time.Hour))
		if newer := strings.HasPrefix(begin, "sundry web 5") || strings.HasPrefix(begin, "sundry web 3") || strings.HasPrefix(begin, "sundry web 2") || strings.HasPrefix(begin, "sundry web 1"); (err == nil) != (begin == "sundry web 4\n") || errors.Is(err, ErrOtherVersion) != newer {
			t.Errorf("%q: %v", begin, err)
		}
		if there, _ := os.ReadFile(file); (string(there) == begin) != left && begin != "" {
			t.Errorf("%q became %q", begin, there)
		}
		n, err := s.WriteFile(file)
		if (err != nil) != left || (n == 0) != left {
			t.Errorf("%q is written over: %d, %v", begin, n, err)
		}
		if there, _ := os.ReadFile(file); left && string(there) != begin {
			t.Errorf("%q became %.20q", begin, there)
		}
	}
	wantAlone(t, file)
}

// TestWhatIsNoFileIsLeft, and not waited for.
func TestWhatIsNoFileIsLeft(t *testing.T) {
	dir := t.TempDir()
	pipe, folder := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Skip(err)
	}
	s := newTestStore(t, 1<<20)
	s.Put("x/a", object(1, "body"))
	for _, name := range []string{pipe, folder} {
		before, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.ReadFile(name, func(string) *Rules { return nil }, time.Time{}, noon); err == nil {
			t.Errorf("%s was read", name)
		}
		if _, err := s.WriteFile(name); err == nil {
			t.Errorf("%s was written", name)
		}
		if after, err := os.Stat(name); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s became %v: %v", name, after, err)
		}
	}
}

// wantAlone wants no temporary files beside one.
func wantAlone(t *testing.T, file string) {
	t.Helper()
	if all, err := os.ReadDir(filepath.Dir(file)); len(all) != 1 || err != nil {
		t.Errorf("%v: %v", all, err)
	}
}

// TestALargeRecordIsDamage: a file says what it likes of the size of a key and an object, and may have holes.
func TestALargeRecordIsDamage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "apis")
	s := newTestStore(t, 1<<20)
	for name, record := range map[string][]byte{
		"key":    binary.AppendUvarint(nil, 2900<<20),
		"object": binary.AppendUvarint([]byte{3, 'x', '/', 'a'}, 2900<<20),
	} {
		if err := errors.Join(os.WriteFile(file, append([]byte(restartMagic), record...), 0o600), os.Truncate(file, 3<<30)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if n, err := s.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon); n != 0 || !errors.Is(err, errRestart) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// TestTheLargestRecordIsKept.
func TestTheLargestRecordIsKept(t *testing.T) {
	const memory = 64 << 20
	file, key := filepath.Join(t.TempDir(), "apis"), "x/"+strings.Repeat("%E4", 64<<10)
	s, again := newTestStore(t, memory), newTestStore(t, memory)
	s.Put(key, object(1, strings.Repeat("x", memory-(1<<20))))
	if n, err := s.WriteFile(file); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := again.ReadFile(file, func(string) *Rules { return &usualRules }, time.Time{}, noon.Add(time.Hour)); n != 1 || err != nil {
		t.Error(n, err)
	}
}
