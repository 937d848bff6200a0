package durable

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOnlyRegularFilesAreRead: nobody waits for the other end of a pipe.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{pipe, dir} {
		if _, err := ReadFile(name, 1); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ReadBegin(name, 1); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "nowhere"), 1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestFilesThatAreReadAreBounded, also where the file system does not know their size.
func TestFilesThatAreReadAreBounded(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(name, []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := ReadFile(name, 7); string(b) != "content" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if err := os.Truncate(name, 3<<30); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(name, 7)
	for _, part := range []string{name, "3221225472", "7"} {
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), part) {
			t.Errorf("%v: expected %q in it", err, part)
		}
	}
	for n, want := range map[int]string{3: "con", 8: "content\x00"} {
		if b, err := ReadBegin(name, n); string(b) != want || err != nil {
			t.Errorf("%q %v", b, err)
		}
	}
	if _, err := ReadFile("/proc/self/status", 7); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// TestWriteFile: the new content takes the place of the old one, and nothing else is left.
func TestWriteFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state")
	for _, content := range []string{"one", "another"} {
		if err := WriteFile(name, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("%q %v", got, err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	wantFiles(t, filepath.Dir(name), 1)
}

// TestWriteFileThatCannotBe: what is there stays, and no temporary file.
func TestWriteFileThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(taken, []byte("x")); err == nil {
		t.Error("a directory was replaced")
	}
	wantFiles(t, dir, 1)
	if err := WriteFile(filepath.Join(dir, "nowhere", "state"), nil); err == nil {
		t.Error("a file was written into a directory that does not exist")
	}
}

func wantFiles(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != want {
		t.Errorf("%v %v", entries, err)
	}
}
