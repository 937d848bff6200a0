package live

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sundry/cache/far"
	"sundry/cache/far/redistest"
)

// TestStores holds each store to what the replicator relies on: a value is
// replaced only by who knew it, and a watch speaks up at its beginning.
func TestStores(t *testing.T) {
	for name, open := range map[string]func(*testing.T) Store{
		"memory": func(*testing.T) Store { return &File{} },
		"file":   func(t *testing.T) Store { return &File{Path: filepath.Join(t.TempDir(), "state.json")} },
		"redis":  func(t *testing.T) Store { return NewRedis(tierOf(t, redistest.Start(t))) },
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			holds(t, store, "")
			for _, row := range []struct {
				old, value string
				swapped    bool
			}{{"other", "one", false}, {"", "one", true}, {"", "two", false}, {"one", "two", true}, {"one", "three", false}} {
				if ok, err := store.Swap(t.Context(), []byte(row.old), []byte(row.value)); ok != row.swapped || err != nil {
					t.Errorf("%q for %q: %v, %v", row.value, row.old, ok, err)
				}
			}
			holds(t, store, "two")
			ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
			defer stop()
			heard := false
			if store.Watch(ctx, func() { heard = true; stop() }, func() {}); !heard {
				t.Error("the watch did not ask for a first read")
			}
		})
	}
}

func holds(t *testing.T, store Store, want string) {
	t.Helper()
	if b, err := store.Load(t.Context()); string(b) != want || err != nil {
		t.Errorf("%q %v, want %q", b, err, want)
	}
}

func tierOf(t *testing.T, server *redistest.Server) *far.Tier {
	t.Helper()
	tier, err := far.Open(far.Config{URL: server.URL()}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tier.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return tier
}

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
