package secure

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPairOfOtherFiles: a pipe does not block the start, and a file without an end is not read.
func TestPairOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	pipe, folder, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder"), filepath.Join(dir, "large")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Mkdir(folder, 0o700), os.WriteFile(large, nil, 0o600), os.Truncate(large, maxPEM+1)); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, folder, large, filepath.Join(dir, "none"), "/dev/zero"} {
		_, err := ReadPair(file, file, nil, time.Now())
		if _, ok := errors.AsType[Mistake](err); !ok {
			t.Errorf("%s: %v", file, err)
		}
	}
}
