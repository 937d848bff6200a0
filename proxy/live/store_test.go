package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sundry/cache/durable"
	"sundry/cache/far"
	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// TestStores holds each store to what the replicator relies on: a value is
// replaced only by who knew it, and a watch speaks up at its beginning.
func TestStores(t *testing.T) {
	for name, open := range map[string]func(*testing.T) Store{
		"memory": func(*testing.T) Store { return &File{} },
		"file":   func(t *testing.T) Store { return &File{Path: filepath.Join(t.TempDir(), "state.json")} },
		"redis":  func(t *testing.T) Store { return tierOf(t, redistest.Start(t)).SharedValue("settings") },
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t)
			holds(t, store, "")
			for _, row := range []struct {
				old, value string
				swapped    bool
			}{{"other", "one", false}, {"", "one", true}, {"", "two", false}, {"one", "two", true}, {"one", "three", false}} {
				if ok, err := store.CompareAndSwap(t.Context(), []byte(row.old), []byte(row.value)); ok != row.swapped || err != nil {
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

// TestALargeFileIsNotRead: it would take all memory.
func TestALargeFileIsNotRead(t *testing.T) {
	file := &File{Path: filepath.Join(t.TempDir(), "state.json")}
	if err := os.WriteFile(file.Path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file.Path, 3<<30); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Load(t.Context()); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
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
}

// fleetOver starts so many replicators over a Redis.
func fleetOver(t *testing.T, server *redistest.Server, n int) (fleet []*Replicator, at []*applied) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() { stop(); running.Wait() })
	for range n {
		r, a := newReplicator(tierOf(t, server).SharedValue("settings"))
		if err := r.FirstSync(ctx); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { r.Run(ctx) })
		fleet, at = append(fleet, r), append(at, a)
	}
	return fleet, at
}

// TestManyChangesOfAFleetAtOnce: none is refused or stays pending, and each is carried out once
// by every instance.
func TestManyChangesOfAFleetAtOnce(t *testing.T) {
	fleet, at := fleetOver(t, redistest.Start(t), 5)
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			c := Change{By: "me", Do: DoDrop, Target: "ip", Key: fmt.Sprintf("ip:%d", n)}
			if n%2 == 1 {
				c = Change{By: "me", Do: DoReset, Target: fmt.Sprintf("h%d", n)}
			}
			r := fleet[n/2%len(fleet)]
			record, err := r.Change(t.Context(), c)
			if err != nil || record.Do != c.Do || c.Do == DoDrop && record.Note != c.Key {
				t.Errorf("%+v: %v, %+v", c, err, record)
			}
		})
	}
	all.Wait()
	for i, r := range fleet {
		waittest.Until(t, "nothing pending", func() bool { return r.Pending() == 0 })
		waittest.Until(t, "all changes everywhere", func() bool { return r.Settings().Seq == 200 && len(r.Settings().Audit) == 200 })
		waittest.Until(t, "all orders everywhere", func() bool { return len(at[i].orders()) == 200 })
	}
}

// TestAFullDisk: what cannot be written is in force, and pending until it can. A directory that
// is gone stands for the disk.
func TestAFullDisk(t *testing.T) {
	disk := filepath.Join(t.TempDir(), "disk")
	r, at := newReplicator(&File{Path: filepath.Join(disk, "state.json")})
	for range 2 {
		if _, err := r.Change(t.Context(), purgeIP); err != nil || r.Pending() != 1 || at.purges()["ip"].Hard.IsZero() {
			t.Errorf("%v, %d pending, purges %v", err, r.Pending(), at.purges())
		}
		if err := os.Mkdir(disk, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := r.sync(t.Context()); err != nil || r.Pending() != 0 {
			t.Errorf("%v, %d pending", err, r.Pending())
		}
		again, at := newReplicator(&File{Path: filepath.Join(disk, "state.json")})
		if err := again.sync(t.Context()); err != nil || at.purges()["ip"].Hard.IsZero() {
			t.Errorf("%v, purges after a restart %v", err, at.purges())
		}
		if err := os.RemoveAll(disk); err != nil {
			t.Fatal(err)
		}
	}
}

// TestADamagedFileIsKept beside the one that takes its place, and no more than one.
func TestADamagedFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	r, _ := newReplicator(&File{Path: path})
	if _, err := r.Change(t.Context(), purgeIP); err != nil {
		t.Fatal(err)
	}
	for _, garbage := range []string{"rubbish", "other rubbish"} {
		if err := os.WriteFile(path, []byte(garbage), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Change(t.Context(), ttl("2h", 0)); err != nil || r.Pending() != 0 {
			t.Errorf("%v, %d pending", err, r.Pending())
		}
		if b, err := os.ReadFile(path + ".damaged"); err != nil || string(b) != garbage {
			t.Errorf("%q %v", b, err)
		}
	}
	again, at := newReplicator(&File{Path: path})
	if err := again.sync(t.Context()); err != nil || at.purges()["ip"].Hard.IsZero() || at.last()["ip"]["ttl"] != "2h" {
		t.Errorf("%v, %v, %v", err, at.purges(), at.last())
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 2 {
		t.Errorf("%v %v", files, err)
	}
}
