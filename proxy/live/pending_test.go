package live

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

var purgeIP = Change{By: "me", Do: "purge", Target: "ip", Hard: true}

// TestAPurgeDuringAnOutageIsInForceAtOnce, on this instance, and on every other
// once the store is back; nothing is called restored.
func TestAPurgeDuringAnOutageIsInForceAtOnce(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		f.after(time.Second)
		f.connOne.away(true)
		at := time.Now()
		s := f.change(purgeIP)
		drop := f.change(Change{By: "me", Do: "drop", Target: "60s", Key: "60s:k"})
		if !s.Purges["ip"].Hard.Equal(at) || drop.Seq != 3 || f.one.Pending() != 2 || testutil.ToFloat64(f.one.metrics.pending) != 2 {
			t.Errorf("%+v, %d pending", drop, f.one.Pending())
		}
		if _, stored := f.one.AuditLog(); stored != 1 || testutil.ToFloat64(f.one.metrics.sequence) != 1 {
			t.Errorf("stored up to %d", stored)
		}
		f.after(time.Hour)
		if len(f.appliedTwo.purges()) != 0 || f.one.Pending() != 2 {
			t.Errorf("elsewhere, during the outage: %v", f.appliedTwo.purges())
		}
		f.connOne.away(false)
		f.after(2 * pollInterval)
		if s := f.agree(); s.Seq != 3 || !s.Purges["ip"].Hard.Equal(at) || !f.appliedTwo.purges()["ip"].Hard.Equal(at) || !slices.Equal(f.appliedTwo.orders(), []int64{3}) {
			t.Errorf("%+v, elsewhere %v, orders %v", s, f.appliedTwo.purges(), f.appliedTwo.orders())
		}
		if n := testutil.ToFloat64(f.one.metrics.restores); n != 0 {
			t.Errorf("restored %v times", n)
		}
	})
}

// TestPendingChangesMeetOthers that were made meanwhile: of a target the later one
// wins, all purges and drops count, and an order is carried out once.
func TestPendingChangesMeetOthers(t *testing.T) {
	withFleet(t, func(f *fleet) {
		of := func(target, v string) Change {
			return Change{By: "me", Do: "knobs", Target: target, Cache: map[string]string{"ttl": v}}
		}
		elsewhere := func(c Change) {
			if _, err := f.two.Change(f.ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		f.connOne.away(true)
		elsewhere(of("60s", "1m"))
		f.after(time.Second)
		f.change(of("60s", "2m"))
		f.change(of("ip", "3m"))
		purged := time.Now()
		f.change(purgeIP)
		f.change(Change{By: "me", Do: "drop", Target: "ip", Key: "ip:k"})
		f.after(time.Second)
		elsewhere(of("ip", "4m"))
		elsewhere(Change{Do: "purge", Target: "ip"})
		elsewhere(Change{Do: "drop", Target: "ip", Key: "ip:other"})
		f.after(time.Minute)
		f.connOne.away(false)
		f.after(3 * pollInterval)
		s := f.agree()
		if diff := cmp.Diff(map[string]map[string]string{"60s": {"ttl": "2m"}, "ip": {"ttl": "4m"}}, s.ActiveCache(time.Now())); diff != "" {
			t.Error(diff)
		}
		if m := s.Purges["ip"]; !m.Hard.Equal(purged) || m.Soft.IsZero() || len(s.Orders) != 2 {
			t.Errorf("%+v", s)
		}
		if !slices.ContainsFunc(s.Audit, func(r Record) bool { return r.Do == "overtaken" && r.Target == "ip" }) {
			t.Errorf("no record of the overtaken change: %+v", s.Audit)
		}
		if len(f.appliedTwo.orders()) != 2 {
			t.Errorf("orders carried out elsewhere: %v", f.appliedTwo.orders())
		}
		before := s.Seq
		if f.after(time.Hour); f.agree().Seq != before {
			t.Errorf("they do not converge: change %d became %d", before, f.one.Settings().Seq)
		}
	})
}

// TestPendingDropsAreCarriedOutOnce on the instance where they were made, and so
// are those of others.
func TestPendingDropsAreCarriedOutOnce(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.connTwo.away(true)
		if _, err := f.two.Change(f.ctx, Change{Do: "drop", Target: "ip", Key: "ip:mine"}); err != nil {
			t.Fatal(err)
		}
		f.change(Change{Do: "drop", Target: "ip", Key: "ip:theirs"})
		f.connTwo.away(false)
		f.after(2 * pollInterval)
		f.agree()
		if n := len(f.appliedTwo.orders()); n != 2 {
			t.Errorf("%v: want its own at once, then the other", f.appliedTwo.orders())
		}
	})
}

// TestPendingChangesSurviveALossOfTheStore: it comes back empty, or rolled back, or
// the instance had never reached it.
func TestPendingChangesSurviveALossOfTheStore(t *testing.T) {
	for name, row := range map[string]struct {
		before bool // changes, of which the store remembers the first
		put    func(backup []byte) []byte
		want   string // ttl of ip
	}{
		"empty":           {true, func([]byte) []byte { return nil }, "2h"},
		"restored":        {true, func(backup []byte) []byte { return backup }, "2h"},
		"never anything":  {false, func([]byte) []byte { return nil }, ""},
		"never looked at": {false, func([]byte) []byte { b, _ := json.Marshal(longHistory(300)); return b }, "300s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &connection{sharedStore: &sharedStore{}, down: !row.before}
				replicator, at := newReplicator(conn)
				ctx, stop := contextFor(t, time.Hour)
				go replicator.Run(ctx)
				synctest.Wait()
				var backup []byte
				for _, v := range []string{"1h", "2h"} {
					if !row.before {
						break
					}
					if _, err := replicator.Change(ctx, ttl(v, 0)); err != nil {
						t.Fatal(err)
					}
					if backup == nil {
						backup = conn.mem
					}
				}
				conn.away(true)
				if _, err := replicator.Change(ctx, purgeIP); err != nil {
					t.Fatal(err)
				}
				if at.purges()["ip"].Hard.IsZero() {
					t.Error("not in force here")
				}
				conn.put(row.put(backup))
				conn.away(false)
				time.Sleep(2 * pollInterval)
				synctest.Wait()
				var stored Settings
				if err := json.Unmarshal(conn.mem, &stored); err != nil || stored.Purges["ip"].Hard.IsZero() || replicator.Pending() != 0 {
					t.Errorf("%v: %+v", err, stored)
				}
				if got := stored.ActiveCache(time.Now())["ip"]["ttl"]; got != row.want || len(stored.Cache) > 1 && stored.Cache["first"].Values == nil {
					t.Errorf("ttl %q, want %q", got, row.want)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// longHistory is settings of so many changes; the audit log does not hold the first.
func longHistory(n int) *Settings {
	s, _ := (&Settings{}).With(Change{Do: "knobs", Target: "first", Cache: map[string]string{"ttl": "1s"}}, nine)
	for range n {
		s, _ = s.With(ttl("300s", 0), nine)
	}
	return s
}

// TestPendingChangesOnAReadOnlyStore: the store can be read again and
// takes no writes; purges from elsewhere count here all the same.
func TestPendingChangesOnAReadOnlyStore(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.connTwo.away(true)
		if _, err := f.two.Change(f.ctx, purgeIP); err != nil {
			t.Fatal(err)
		}
		f.change(Change{Do: "purge", Target: "60s"})
		f.connTwo.inject(func(c *connection) { c.down, c.readOnly = false, true })
		f.after(2 * pollInterval)
		if p := f.appliedTwo.purges(); p["60s"].Soft.IsZero() || p["ip"].Hard.IsZero() || f.two.Pending() != 1 {
			t.Errorf("%v, %d pending", p, f.two.Pending())
		}
		f.connTwo.inject(func(c *connection) { c.readOnly = false })
		f.after(2 * pollInterval)
		f.agree()
	})
}

func TestPendingChangesAreBounded(t *testing.T) {
	replicator, _ := newReplicator(&connection{sharedStore: &sharedStore{}, down: true})
	for range maxPending {
		if _, err := replicator.Change(t.Context(), purgeIP); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := replicator.Change(t.Context(), purgeIP); !errors.Is(err, ErrNotStored) || replicator.Pending() != maxPending {
		t.Errorf("%v", err)
	}
}
