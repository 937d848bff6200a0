package live

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFileSurvives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	first, _ := newReplicator(&File{Path: path})
	if _, err := first.Change(t.Context(), ttl("1h", 0)); err != nil {
		t.Fatal(err)
	}
	second, at := newReplicator(&File{Path: path})
	if err := second.sync(t.Context()); err != nil {
		t.Error(err)
	}
	if at.last()["ip"]["ttl"] != "1h" {
		t.Errorf("%v", at.last())
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := second.Change(t.Context(), ttl("2h", 0)); !errors.Is(err, ErrNotStored) {
		t.Errorf("a broken file was overwritten: %v", err)
	}
	gone, _ := newReplicator(&File{Path: filepath.Join(path, "below", "a-file")})
	if _, err := gone.Change(t.Context(), ttl("1h", 0)); !errors.Is(err, ErrNotStored) {
		t.Errorf("%v", err)
	}
}
