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

// withCopy is an instance that has a copy of the settings in a file.
type withCopy struct {
	*Replicator
	at   *applied
	said *bytes.Buffer // the log
}

// start starts an instance with a copy, as far as a process does before it serves.
func start(t *testing.T, store Store, file string) *withCopy {
	t.Helper()
	k := &withCopy{at: &applied{}, said: &bytes.Buffer{}}
	k.Replicator = NewReplicator(ReplicatorConfig{
		Store: store, Check: notWrong, Purge: k.at.purge, Apply: k.at.apply, Copy: file, Log: slog.New(slog.NewTextHandler(k.said, nil)),
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
func (k *withCopy) must(t *testing.T, c Change) Record {
	t.Helper()
	r, err := k.Change(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// idsIn returns the IDs of the pending changes in a file, in their order.
func idsIn(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	content, _, err := parseCopy(b)
	if err != nil {
		t.Fatal(err)
	}
	return idsOf(content.Pending)
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
				if ids := idsIn(t, file); len(ids) > 0 {
					t.Errorf("the file has %v, and nothing is pending", ids)
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
					if said := first.said.String(); strings.Contains(said, "are lost") || !strings.Contains(said, "stay in a file") {
						t.Errorf("it says in the end: %s", said)
					}
				}
				f.after(time.Hour)

				next := start(t, conn, file)
				p := next.at.purges()
				if !p["ip"].Hard.Equal(at) || !p["60s"].Soft.Equal(at) || !slices.Equal(next.at.orders(), []int64{4}) || next.Pending() != 5 || next.at.last()["ip"]["grace"] != "5m" {
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
				if next.Pending() != 0 || len(next.at.orders()) != 1 || len(idsIn(t, file)) > 0 || !same(t, s, next.Settings()) {
					t.Errorf("%d pending, orders %v, file %v", next.Pending(), next.at.orders(), idsIn(t, file))
				}
				if again := start(t, conn, file); again.Settings().Seq != s.Seq {
					t.Errorf("another start makes change %d of %d", again.Settings().Seq, s.Seq)
				}
			})
		})
	}
}

// TestACopyOfChangesThatAreStored, because the process was killed before it wrote the file again, changes nothing.
func TestACopyOfChangesThatAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, conn := filepath.Join(t.TempDir(), "pending"), &connection{sharedStore: &sharedStore{}, down: true}
		first := start(t, conn, file)
		first.must(t, ttl("1h", 0))
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		conn.away(false)
		if err := first.sync(t.Context()); err != nil || len(idsIn(t, file)) > 0 {
			t.Fatalf("%v, file %v", err, idsIn(t, file))
		}
		first.must(t, ttl("2h", 0))
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		next := start(t, conn, file)
		if s := next.Settings(); s.Seq != 2 || s.Cache["ip"].Values["ttl"] != "2h" || next.Pending() != 0 || len(idsIn(t, file)) > 0 {
			t.Errorf("%+v, %d pending, file %v", s, next.Pending(), idsIn(t, file))
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

// TestTheCopyMayBeAnything: nothing that is no such file is in force or lost, and it keeps no instance from starting, or from
// writing its own.
func TestTheCopyMayBeAnything(t *testing.T) {
	for name, row := range map[string]struct {
		content string
		says    string // in the log
	}{
		"garbage":           {"garbage", "cannot be read"},
		"half":              {`{"pending":[{"id":"a","do":"pur`, "cannot be read"},
		"a list":            {`[]`, "cannot be read"},
		"a wrong number":    {`{"seq":-1}`, "cannot be read"},
		"without an ID":     {`{"pending":[{"do":"purge","target":"ip","at":"2000-01-01T00:00:00Z"}]}`, "cannot be read"},
		"an unknown change": {`{"pending":[{"id":"a","do":"explode","target":"ip","at":"2000-01-01T00:00:00Z"}]}`, "cannot be made any more"},
		"a wrong setting":   {`{"pending":[{"id":"a","do":"cache","target":"ip","cache":{"ttl":"wrong"},"at":"2000-01-01T00:00:00Z"}]}`, "cannot be made any more"},
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

// TestACopyThatMustBeLeft: what cannot be read or written is left as it is, and changes are made all the same. Once there is room, they are written.
func TestACopyThatMustBeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "later", "pending")
		k := start(t, &connection{sharedStore: &sharedStore{}, down: true}, file)
		for range 3 {
			k.must(t, Change{By: "me", Do: DoDrop, Target: "ip", Key: "ip:k"})
		}
		if n := strings.Count(k.said.String(), "cannot be written"); k.Pending() != 3 || n != 1 {
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
		if ids := idsIn(t, file); len(ids) != 3 || !strings.Contains(k.said.String(), "is written again") {
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
		for _, o := range three.Settings().ops() {
			keys = append(keys, o.Key)
		}
		slices.Sort(keys)
		if !slices.Equal(keys, []string{"ip:1", "ip:2", "ip:3"}) || len(idsIn(t, file)) > 0 {
			t.Errorf("orders of %v, file %v", keys, idsIn(t, file))
		}
		connTwo.away(false)
		if err := two.sync(t.Context()); err != nil || two.Settings().Seq != 3 || two.Pending() != 0 || len(idsIn(t, file)) > 0 {
			t.Errorf("%v, %d pending, %+v", err, two.Pending(), two.Settings())
		}
	})
}

// TestAChangeOfTheFutureIsOfNow: a damaged file must not purge what will be cached.
func TestAChangeOfTheFutureIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pending")
		content := copied{Pending: []pendingChange{{Change: Change{ID: "a", Do: DoPurge, Target: "ip", Hard: true}, At: time.Now().AddDate(9, 0, 0)}}}
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
		r.cfg.Panics, r.copy.path = panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler)), file
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
		if n := len(k.copy.own); n > maxPending {
			t.Errorf("%d changes are remembered as those of this process", n)
		}
		next := start(t, conn, file)
		if p := next.at.purges()["ip"]; next.Pending() > maxPending || p == (policy.Purge{}) {
			t.Errorf("%d pending, purges %v", next.Pending(), p)
		}
	})
}

// TestACopyIsStoredAgain: what it has and the store lacks, when an instance starts. Later it follows what is stored.
func TestACopyIsStoredAgain(t *testing.T) {
	base := after(t, ttl("1h", 0))
	older, newer, damaged := base, and(t, base, purgeIP), `{"seq":`
	other := and(t, base, ttl("2h", 0), ttl("3h", 0))
	for name, row := range map[string]struct {
		stored, copied *Settings // nil means that there is none
		damaged        bool      // in place of the stored ones
		ttl            string    // of ip in the end; "" means none
		purged         bool
		restores       bool
	}{
		"lost":              {stored: nil, copied: newer, ttl: "1h", purged: true, restores: true},
		"an older backup":   {stored: older, copied: newer, ttl: "1h", purged: true, restores: true},
		"another history":   {stored: other, copied: newer, ttl: "3h", purged: true, restores: true},
		"an older copy":     {stored: newer, copied: older, ttl: "1h", purged: true},
		"no copy":           {stored: newer, ttl: "1h", purged: true},
		"nothing":           {},
		"a copy of damaged": {damaged: true, copied: newer, ttl: "1h", purged: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				file, store := filepath.Join(t.TempDir(), "settings"), &sharedStore{}
				if row.copied != nil {
					if err := os.WriteFile(file, stored(t, row.copied), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if row.damaged {
					store.put([]byte(damaged))
				} else if row.stored != nil {
					store.put(stored(t, row.stored))
				}
				k := start(t, store, file)
				got, err := parse(store.mem)
				if err != nil || !k.InSync() || !same(t, got, k.Settings()) || got.Cache["ip"].Values["ttl"] != row.ttl || got.Purges["ip"].Hard.IsZero() == row.purged {
					t.Errorf("%v: stored %+v, in sync: %v", err, got, k.InSync())
				}
				if restored := testutil.ToFloat64(k.metrics.restores) > 0; restored != row.restores {
					t.Errorf("stored again: %v", restored)
				}
				if b, err := os.ReadFile(file); got.Seq > 0 && (err != nil || len(idsIn(t, file)) > 0 || !strings.Contains(string(b), `"seq"`)) {
					t.Errorf("the file has %s, %v", b, err)
				}
			})
		})
	}
}

// TestACopyIsInForceBeforeTheStore can be reached, with the one-off operations of before.
func TestACopyIsInForceBeforeTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file, conn := filepath.Join(t.TempDir(), "settings"), &connection{sharedStore: &sharedStore{}}
		first := start(t, conn, file)
		for _, c := range []Change{ttl("1h", 0), purgeIP, {By: "me", Do: DoDrop, Target: "ip", Key: "ip:k"}, {By: "me", Do: DoReset, Target: "h"}} {
			first.must(t, c)
		}
		conn.away(true)
		next := start(t, conn, file)
		if p := next.at.purges()["ip"].Hard; !p.Equal(first.Settings().Purges["ip"].Hard) || next.at.last()["ip"]["ttl"] != "1h" || !slices.Equal(next.at.orders(), []int64{3}) || next.InSync() || next.Pending() != 0 {
			t.Errorf("purged %v, settings %v, orders %v, in sync %v, %d pending", p, next.at.last(), next.at.orders(), next.InSync(), next.Pending())
		}
	})
}
