package advisor

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTheFile is replaced as a whole, read at the next start, and nobody else's.
func TestTheFile(t *testing.T) {
	a, end := experienced()
	policy := usual(10*time.Minute, 0)
	name := filepath.Join(t.TempDir(), "snapshot.advisor")
	b := ruled(&policy, end)
	if err := b.ReadFile(name, end); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for range 2 {
		if err := a.WriteFile(name, end); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.ReadFile(name, end); err != nil {
		t.Fatal(err)
	}
	if got, want := ask(b, &policy, end), ask(a, &policy, end); got.Change != want.Change {
		t.Errorf("%+v, want %+v", got.Change, want.Change)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if files, err := os.ReadDir(filepath.Dir(name)); len(files) != 1 || err != nil {
		t.Errorf("%v %v", files, err)
	}
}

// TestFilesThatAreNoState: a foreign one is left as it is, a torn one replaced; from neither
// is anything taken.
func TestFilesThatAreNoState(t *testing.T) {
	a, end := experienced()
	policy := usual(10*time.Minute, 0)
	whole := a.State(end)
	for name, row := range map[string]struct {
		content  []byte
		replaced bool
	}{
		"torn": {whole[:len(whole)/2], true}, "torn early": {whole[:2], true}, "empty": {nil, true}, "of another version": {[]byte("SADV\x63 more"), true},
		"foreign": {[]byte("#!/bin/sh\n"), false}, "too large": {bytes.Repeat([]byte{7}, MaxState+1), false},
	} {
		file := filepath.Join(t.TempDir(), "state")
		if err := os.WriteFile(file, row.content, 0o600); err != nil {
			t.Fatal(err)
		}
		b := ruled(&policy, end)
		if err := b.ReadFile(file, end); !errors.Is(err, ErrState) && !errors.Is(err, ErrForeign) {
			t.Errorf("%s: read: %v", name, err)
		}
		if got := ask(b, &policy, end).Change.Refreshes; got != 0 {
			t.Errorf("%s: %d refreshes", name, got)
		}
		err := b.WriteFile(file, end)
		after, _ := os.ReadFile(file)
		if errors.Is(err, ErrForeign) == row.replaced || bytes.Equal(after, row.content) == row.replaced {
			t.Errorf("%s: %v, %d bytes", name, err, len(after))
		}
	}
	if err := ruled(&policy, end).WriteFile(t.TempDir(), end); !errors.Is(err, ErrForeign) {
		t.Errorf("a directory: %v", err)
	}
}
