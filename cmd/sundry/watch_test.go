package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestAFileThatIsGoneIsReloadedOnce: the certificate of an API may be missing for hours, and each reload logs that.
func TestAFileThatIsGoneIsReloadedOnce(t *testing.T) {
	file := write(t, t.TempDir(), "client.pem", "a certificate")
	of := watchedFiles{named: func() []string { return []string{filepath.Clean(file)} }}
	of.linked = of.links()
	look := func(want bool) {
		t.Helper()
		if of.edited() != want {
			t.Errorf("edited: %v", !want)
		}
	}
	look(false)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	look(true)
	look(false)
	if err := os.WriteFile(file, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	look(true)
	look(false)
}
