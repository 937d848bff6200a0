package durable

import (
	"errors"
	"os"
	"path/filepath"
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
		if _, err := ReadFile(name); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
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
