package live

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

// TestMirror: a process that starts stores again what its copy has and the store lacks; later it copies what is stored.
func TestMirror(t *testing.T) {
	t.Parallel()
	base := after(t, ttl("1h", 0))
	older, newer, damaged := string(encoded(t, base)), string(encoded(t, and(t, base, Change{Do: "purge", Target: "ip", Hard: true}))), `{"seq":`
	other := string(encoded(t, and(t, base, ttl("2h", 0), ttl("3h", 0)))) // more changes than newer has, but not its last one
	merged := func(copied, stored string) string {
		b, err := Merge([]byte(copied), []byte(stored))
		if err != nil || string(b) == stored {
			t.Errorf("a copy with a change of its own is not merged: %v", err)
		}
		return string(b)
	}
	for name, c := range map[string]struct{ stored, copied, want, file string }{
		"lost":              {"", newer, newer, newer},
		"an older backup":   {older, newer, merged(newer, older), merged(newer, older)},
		"another history":   {other, newer, merged(newer, other), merged(newer, other)},
		"an older copy":     {newer, older, newer, newer},
		"no copy":           {newer, "", newer, newer},
		"nothing":           {"", "", "", ""},
		"a damaged copy":    {older, damaged, older, older},
		"damaged":           {damaged, "", damaged, ""},
		"damaged, and lost": {"", damaged, "", damaged},
		"a copy of damaged": {damaged, newer, newer, newer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, shared := filepath.Join(t.TempDir(), "state"), &File{}
			if c.copied != "" {
				if err := os.WriteFile(path, []byte(c.copied), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			shared.mem = []byte(c.stored)
			m := &Mirror{Store: shared, Path: path, Sound: Sound, Merge: Merge, Log: slog.New(slog.DiscardHandler)}
			got, err := m.Load(t.Context())
			if err != nil || string(got) != c.want || string(shared.mem) != c.want {
				t.Errorf("%q %v, stored %q, want %q", got, err, shared.mem, c.want)
			}
			if file, _ := os.ReadFile(path); string(file) != c.file {
				t.Errorf("the file has %q, want %q", file, c.file)
			}
			shared.mem = []byte(older) // others may go back while this process runs
			if got, err := m.Load(t.Context()); err != nil || string(got) != older {
				t.Errorf("later: %q %v", got, err)
			}
		})
	}
}
