package live

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// TestMirror: a process that starts stores the copy again if the store is empty; later it copies what is stored.
func TestMirror(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ stored, copied, want, file string }{
		"lost": {"", "a", "a", "a"}, "another one": {"b", "a", "b", "b"}, "no copy": {"b", "", "b", "b"}, "nothing": {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, shared := filepath.Join(t.TempDir(), "status"), &File{}
			if row.copied != "" {
				if err := os.WriteFile(path, []byte(row.copied), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			shared.mem = []byte(row.stored)
			m := &Mirror{Store: shared, Path: path, Log: slog.New(slog.DiscardHandler)}
			got, err := m.Load(t.Context())
			if err != nil || string(got) != row.want || string(shared.mem) != row.want {
				t.Errorf("%q %v, stored %q, want %q", got, err, shared.mem, row.want)
			}
			if file, _ := os.ReadFile(path); string(file) != row.file {
				t.Errorf("the file has %q, want %q", file, row.file)
			}
			if ok, err := m.CompareAndSwap(t.Context(), shared.mem, []byte("c")); !ok || err != nil {
				t.Error(ok, err)
			}
			shared.mem = nil // others may empty it while this process runs
			if got, err := m.Load(t.Context()); err != nil || len(got) > 0 {
				t.Errorf("later: %q %v", got, err)
			}
			if file, _ := os.ReadFile(path); string(file) != "c" {
				t.Errorf("the file has %q", file)
			}
		})
	}
}
