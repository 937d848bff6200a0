package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/policy"
	"sundry/metrics/panics"
)

// kept is an instance whose pending changes are kept in a file.
type kept struct {
	*Replicator
	at   *applied
	said *bytes.Buffer // the log
}

// start starts an instance that has a file for pending changes, as far as a process does before it serves.
func start(t *testing.T, store Store, file string) *kept {
	t.Helper()
	k := &kept{at: &applied{}, said: &bytes.Buffer{}}
	k.Replicator = NewReplicator(ReplicatorConfig{
		Store: store, Check: notWrong, Purge: k.at.purge, Apply: k.at.apply, PendingFile: file, Log: slog.New(slog.NewTextHandler(k.said, nil)),
	})
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	_ = k.FirstSync(ctx) // it also starts without the store
	return k
}

// notWrong refuses the value "wrong".
func notWrong(cache map[string]map[string]string) error {
	for endpoint, values := range cache {
		if slices.Contains(slices.Collect(maps.Values(values)), "wrong") {
			return fmt.Errorf("%s: wrong", endpoint)
		}
	}
	return nil
}

// must makes a change.
func (k *kept) must(t *testing.T, c Change) Record {
	t.Helper()
	r, err := k.Change(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// isThere reports whether a file exists.
func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// idsIn returns the IDs of the changes in a file, in their order.
func idsIn(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := parsePending(b)
	if err != nil {
		t.Fatal(err)
	}
	return idsOf(content.Changes)
}

// TestPendingChangesOutliveTheirInstance, whether it was killed or stopped in order: the next start has them in force with their own time
// while the store is still away, and stores them once it is back.
func TestPendingChangesOutliveTheirInstance(t *testing.T) {
	for name, stops := range map[string]bool{"killed": false, "stopped": true} {
		t.Run(name, func(t *testing.T) {
			withFleet(t, func(f *fleet) {
				t := f.T
				file, conn := filepath.Join(t.TempDir(), "pending"), &connection{sharedStore: f.connOne.sharedStore}
				first := start(t, conn, file)
				first.must(t, ttl("1h", 0))
				if isThere(file) {
					t.Error("there is a file, and nothing is pending")
				}
				conn.away(true)
				f.after(time.Second)
				at := time.Now()
				first.must(t, purgeIP)
				first.must(t, Change{By: "me", Do: DoPurge, Target: "60s"})
				first.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:k"})
				first.must(t, Change{By: "me", Do: DoBreaker, Target: "h", Force: "open", For: 2 * time.Hour})
				first.must(t, Change{By: "me", Do: DoCache, Target: "ip", Set: map[string]string{"grace": "5m"}, Note: "why"})
				if stops {
					first.leave()
					if said := first.said.String(); strings.Contains(said, "are lost") || !strings.Contains(said, "kept in a file") {
						t.Errorf("it says in the end: %s", said)
					}
				}
				f.after(time.Hour)

				next := start(t, conn, file)
				p := next.at.purges()
				if !p["ip"].Hard.Equal(at) || !p["60s"].Soft.Equal(at) || !slices.Equal(next.at.orders(), []int64{3}) || next.Pending() != 5 || next.at.last()["ip"]["grace"] != "5m" {
					t.Errorf("in force at the start: purges %v, orders %v, cache %v, %d pending", p, next.at.orders(), next.at.last(), next.Pending())
				}
				if testutil.ToFloat64(next.metrics.pending) != 5 || len(idsIn(t, file)) != 5 {
					t.Errorf("the metric has %v, the file %v", testutil.ToFloat64(next.metrics.pending), idsIn(t, file))
				}
				conn.away(false)
				if err := next.sync(f.ctx); err != nil {
					t.Fatal(err)
				}
				f.after(2 * pollInterval)
				s := f.agree()
				if p := f.appliedTwo.purges(); !p["ip"].Hard.Equal(at) || !p["60s"].Soft.Equal(at) || len(f.appliedTwo.orders()) != 1 {
					t.Errorf("elsewhere: purges %v, orders %v", p, f.appliedTwo.orders())
				}
				if got := s.ActiveCache(time.Now())["ip"]; !maps.Equal(got, map[string]string{"ttl": "1h", "grace": "5m"}) || !s.Breakers["h"].Until.Equal(at.Add(2*time.Hour)) {
					t.Errorf("stored: %v %v", got, s.Breakers)
				}
				if next.Pending() != 0 || len(next.at.orders()) != 1 || isThere(file) || !s.equals(next.Settings()) {
					t.Errorf("%d pending, orders %v, file %v", next.Pending(), next.at.orders(), isThere(file))
				}
				if again := start(t, conn, file); again.Settings().Seq != s.Seq {
					t.Errorf("another start makes change %d of %d", again.Settings().Seq, s.Seq)
				}
			})
		})
	}
}

// TestAFileOfChangesThatAreStored, because the process was killed before it removed the file, changes nothing.
func TestAFileOfChangesThatAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, conn := filepath.Join(t.TempDir(), "pending"), &connection{sharedStore: &sharedStore{}, down: true}
		first := start(t, conn, file)
		first.must(t, ttl("1h", 0))
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		conn.away(false)
		if err := first.sync(t.Context()); err != nil || isThere(file) {
			t.Fatalf("%v, file %v", err, isThere(file))
		}
		first.must(t, ttl("2h", 0))
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		next := start(t, conn, file)
		if s := next.Settings(); s.Seq != 2 || s.Cache["ip"].Values["ttl"] != "2h" || next.Pending() != 0 || isThere(file) {
			t.Errorf("%+v, %d pending, file %v", s, next.Pending(), isThere(file))
		}
	})
}

// TestRestoredChangesAreDatedByTheStore: by its clock as it was known when they were made, or as it is once it is known.
func TestRestoredChangesAreDatedByTheStore(t *testing.T) {
	for name, row := range map[string]struct {
		known   bool          // the store's clock, when the change was made
		stepped time.Duration // by how much the clock of the machine falls behind meanwhile
	}{
		"known":                {true, 0},
		"known, and stepped":   {true, 10 * time.Second},
		"not known until then": {false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const ahead = time.Minute
				file := filepath.Join(t.TempDir(), "pending")
				store := &otherClock{connection: &connection{sharedStore: &sharedStore{}, down: true}, ahead: ahead}
				if !row.known {
					store.err = errAway
				}
				first := start(t, store, file)
				made := time.Now()
				first.must(t, purgeIP)
				time.Sleep(time.Hour)

				store.err = errAway
				next := start(t, store, file)
				if at := next.at.purges()["ip"].Hard; !at.Equal(auditTime(made)) {
					t.Errorf("in force here as of %v, made at %v", at, made)
				}
				store.err, store.ahead = nil, ahead+row.stepped
				store.away(false)
				if err := next.sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				if at := next.Settings().Purges["ip"].Hard; !at.Equal(auditTime(made.Add(ahead))) {
					t.Errorf("stored as of %v, made at %v by the store's clock", at, made.Add(ahead))
				}
				if at := next.at.purges()["ip"].Hard; !at.Equal(auditTime(made.Add(-row.stepped))) {
					t.Errorf("at last in force here as of %v, made at %v", at, made)
				}
			})
		})
	}
}

// TestTheFileOfPendingChangesMayBeAnything: nothing that is no such file is in force or lost, and it keeps no instance from starting, or from
// keeping its own.
func TestTheFileOfPendingChangesMayBeAnything(t *testing.T) {
	for name, row := range map[string]struct {
		content string
		says    string // in the log
	}{
		"garbage":           {"garbage", "cannot be read"},
		"empty":             {"", "cannot be read"},
		"half":              {`{"sundry_pending":1,"changes":[{"id":"a","do":"pur`, "cannot be read"},
		"of a stranger":     {`{"seq":3,"purges":{"ip":{"hard":"2026-01-01T00:00:00Z"}}}`, "cannot be read"},
		"a newer version":   {`{"sundry_pending":2,"changes":[{"id":"a","do":"purge","target":"ip","at":"2000-01-01T00:00:00Z"}]}`, "version 2"},
		"without an ID":     {`{"sundry_pending":1,"changes":[{"do":"purge","target":"ip","at":"2000-01-01T00:00:00Z"}]}`, "cannot be read"},
		"an unknown change": {`{"sundry_pending":1,"changes":[{"id":"a","do":"explode","target":"ip","at":"2000-01-01T00:00:00Z"}]}`, "cannot be made any more"},
		"a wrong setting":   {`{"sundry_pending":1,"changes":[{"id":"a","do":"cache","target":"ip","cache":{"ttl":"wrong"},"at":"2000-01-01T00:00:00Z"}]}`, "cannot be made any more"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "pending")
				if err := os.WriteFile(file, []byte(row.content), 0o600); err != nil {
					t.Fatal(err)
				}
				k := start(t, &connection{sharedStore: &sharedStore{}, down: true}, file)
				if k.Pending() != 0 || len(k.at.purges()) != 0 || strings.Count(k.said.String(), row.says) != 1 {
					t.Errorf("%d pending, purges %v, and it says: %s", k.Pending(), k.at.purges(), k.said)
				}
				aside, err := os.ReadFile(file + ".damaged")
				if moved := row.says != "cannot be made any more"; moved != (err == nil) || moved && string(aside) != row.content {
					t.Errorf("aside: %q %v", aside, err)
				}
				k.must(t, purgeIP)
				if ids := idsIn(t, file); len(ids) != 1 {
					t.Errorf("the file has %v", ids)
				}
			})
		})
	}
}

// TestAFileThatMustBeLeft: what cannot be read or written is left as it is, and changes are made all the same. Once there is room, they are kept.
func TestAFileThatMustBeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "later", "pending")
		k := start(t, &connection{sharedStore: &sharedStore{}, down: true}, file)
		for range 3 {
			k.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:k"})
		}
		if n := strings.Count(k.said.String(), "are not kept in their file"); k.Pending() != 3 || n != 1 {
			t.Errorf("%d pending, and it says %d times: %s", k.Pending(), n, k.said)
		}
		k.leave()
		if !strings.Contains(k.said.String(), "are lost with this instance") {
			t.Errorf("it says in the end: %s", k.said)
		}
		if err := os.MkdirAll(file, 0o700); err != nil { // a directory is in its place
			t.Fatal(err)
		}
		_ = k.sync(t.Context())
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		_ = k.sync(t.Context())
		if ids := idsIn(t, file); len(ids) != 3 || !strings.Contains(k.said.String(), "are kept in their file again") {
			t.Errorf("the file has %v, and it says: %s", ids, k.said)
		}
	})
}

// TestTwoProcessesShareTheFile, as while one takes over: neither loses what the other has there.
func TestTwoProcessesShareTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, store := filepath.Join(t.TempDir(), "pending"), &sharedStore{}
		connOne, connTwo := &connection{sharedStore: store, down: true}, &connection{sharedStore: store, down: true}
		one := start(t, connOne, file)
		one.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:1"})
		two := start(t, connTwo, file)
		two.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:2"})
		one.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:3"})
		if ids := idsIn(t, file); len(ids) != 3 {
			t.Errorf("the file has %v", ids)
		}
		connOne.away(false)
		if err := one.sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ids := idsIn(t, file); len(ids) != 1 {
			t.Errorf("after one has stored its own, the file has %v", ids)
		}
		three := start(t, connOne, file)
		var keys []string
		for _, o := range three.Settings().Orders {
			keys = append(keys, o.Key)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"ip:1", "ip:2", "ip:3"}) || isThere(file) {
			t.Errorf("orders of %v, file %v", keys, isThere(file))
		}
		connTwo.away(false)
		if err := two.sync(t.Context()); err != nil || two.Settings().Seq != 3 || two.Pending() != 0 || isThere(file) {
			t.Errorf("%v, %d pending, %+v", err, two.Pending(), two.Settings())
		}
	})
}

// TestAChangeOfTheFutureIsOfNow: a damaged file must not purge what will be cached.
func TestAChangeOfTheFutureIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pending")
		content := pendingFileContent{Format: pendingFormat, Changes: []pendingChange{{Change: Change{ID: "a", Do: DoPurge, Target: "ip", Hard: true}, At: time.Now().AddDate(9, 0, 0)}}}
		b, err := json.Marshal(content)
		if err == nil {
			err = os.WriteFile(file, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		k := start(t, &sharedStore{}, file)
		if at := k.at.purges()["ip"].Hard; !at.Equal(time.Now()) || k.Pending() != 0 {
			t.Errorf("purged as of %v, %d pending", at, k.Pending())
		}
	})
}

// TestAPanicOverTheFile keeps no instance from starting, and the changes stay in the file.
func TestAPanicOverTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, conn := filepath.Join(t.TempDir(), "pending"), &connection{sharedStore: &sharedStore{}, down: true}
		start(t, conn, file).must(t, ttl("1h", 0))
		conn.away(false)
		r, _ := newReplicator(conn)
		r.cfg.Panics, r.kept.path = panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler)), file
		r.cfg.Check = func(map[string]map[string]string) error { panic("of the test") }
		if err := r.FirstSync(t.Context()); err != nil || len(idsIn(t, file)) != 1 {
			t.Errorf("%v, the file has %v", err, idsIn(t, file))
		}
	})
}

// TestTheFileIsBounded, as what is pending is.
func TestTheFileIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, conn := filepath.Join(t.TempDir(), "pending"), &connection{sharedStore: &sharedStore{}, down: true}
		k := start(t, conn, file)
		for range 2 * maxPending {
			k.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:" + rand.Text()})
		}
		if n := len(idsIn(t, file)); n > maxPending {
			t.Errorf("the file has %d changes", n)
		}
		next := start(t, conn, file)
		if p := next.at.purges()["ip"]; next.Pending() > maxPending || p == (policy.Purge{}) {
			t.Errorf("%d pending, purges %v", next.Pending(), p)
		}
	})
}
