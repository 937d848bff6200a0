package logmarks

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sundry/cache/durable"
)

// TestAFileKeepsTheSecret, and one that is far too large is not read.
func TestAFileKeepsTheSecret(t *testing.T) {
	file := filepath.Join(t.TempDir(), "marks")
	first, err := OfFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := OfFile(file); again != first || err != nil {
		t.Errorf("another secret: %v", err)
	}
	if copied, err := OfCopy(file); copied != first || err != nil {
		t.Errorf("the copy is another secret: %v", err)
	}
	if _, err := OfCopy(file + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.Truncate(file, 3<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := OfFile(file); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
}
