package live

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"sundry/cache/policy"
)

// TestMirror: a process that starts stores its copy again if it is newer than what is stored; later it copies what is stored.
func TestMirror(t *testing.T) {
	t.Parallel()
	const older, newer, damaged = `{"seq":3}`, `{"seq":5}`, `{"seq":`
	for name, c := range map[string]struct{ stored, copied, want, file string }{
		"lost":              {"", newer, newer, newer},
		"an older backup":   {older, newer, newer, newer},
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
			m := &Mirror{Store: shared, Path: path, Sequence: Sequence, Log: slog.New(slog.DiscardHandler)}
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

// TestACopyIsMergedWithWhatIsStored: Redis was rolled back, and another instance has changed something since, so that the copy of this one
// has no higher number.
func TestACopyIsMergedWithWhatIsStored(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1m", 0))
		before := f.one.Settings()
		f.change(Change{Do: DoPurge, Target: policy.AllEndpoints, Hard: true})
		copied, err := json.Marshal(f.one.Settings())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "settings")
		if err := os.WriteFile(path, copied, 0o600); err != nil {
			t.Fatal(err)
		}
		other, err := before.With(purgeIP, time.Now()) // by an instance that did not know the other purge
		if err != nil {
			t.Fatal(err)
		}
		shared := &sharedStore{}
		if shared.mem, err = json.Marshal(other); err != nil {
			t.Fatal(err)
		}
		for range 2 { // what is merged is merged once
			started, applied := newReplicator(&Mirror{Store: &connection{sharedStore: shared}, Path: path, Sequence: Sequence, Log: slog.New(slog.DiscardHandler)})
			started.cfg.Copy = path
			if err := started.FirstSync(f.ctx); err != nil {
				t.Fatal(err)
			}
			purges, s := applied.purges(), started.Settings()
			if purges["ip"].Hard.IsZero() || purges[policy.AllEndpoints].Hard.IsZero() || s.Cache["ip"].Values["ttl"] != "1m" || s.Seq != other.Seq+1 {
				t.Errorf("%v, %+v", purges, s)
			}
		}
	})
}

// TestAChangeBeforeTheFirstReadIsPending at an instance that has a copy.
func TestAChangeBeforeTheFirstReadIsPending(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1m", 0))
		copied, err := json.Marshal(f.one.Settings())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "settings")
		if err := os.WriteFile(path, copied, 0o600); err != nil {
			t.Fatal(err)
		}
		conn := &connection{sharedStore: f.connOne.sharedStore}
		conn.away(true)
		started, _ := newReplicator(&Mirror{Store: conn, Path: path, Sequence: Sequence, Log: slog.New(slog.DiscardHandler)})
		started.cfg.Copy = path
		ctx, stop := context.WithTimeout(f.ctx, time.Second)
		defer stop()
		if err := started.FirstSync(ctx); err == nil {
			t.Fatal("it is in sync")
		}
		record, err := started.Change(f.ctx, purgeIP)
		if err != nil || !started.IsPending(record) {
			t.Errorf("%v: %+v is not pending", err, record)
		}
		conn.away(false)
		if err := started.FirstSync(f.ctx); err != nil || started.Pending() > 0 || started.IsPending(started.Settings().recordOf(record)) {
			t.Errorf("%v: %d pending", err, started.Pending())
		}
	})
}
