package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/cache/policy"
)

var purgeIP = Change{By: "me", Do: "purge", Target: "ip", Hard: true}

// TestPendingChangesMeetOthers that were made meanwhile: of a target the later one
// wins, all purges and drops count, and an order is carried out once.
func TestPendingChangesMeetOthers(t *testing.T) {
	withFleet(t, func(f *fleet) {
		of := func(target, v string) Change {
			return Change{By: "me", Do: "cache", Target: target, Cache: map[string]string{"ttl": v}}
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
		if m := s.Purges["ip"]; !m.Hard.Equal(purged) || m.Soft.IsZero() || len(s.ops()) != 2 {
			t.Errorf("%+v", s)
		}
		if !slices.ContainsFunc(s.Audit, func(r Record) bool { return r.Do == DoCache && strings.Contains(string(r.After), "3m") }) {
			t.Errorf("no record of the change that a later one overtook: %+v", s.Audit)
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

// TestAChangeThatHistoryHasForgotten is no longer pending, although the store keeps no record of it: it is older than all that are kept.
func TestAChangeThatHistoryHasForgotten(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.connTwo.away(true)
		for _, c := range []Change{ttl("1h", 0), {By: "me", Do: DoReset, Target: "h"}} {
			if _, err := f.two.Change(f.ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		f.after(time.Second)
		f.change(ttl("2h", 0))
		for range 2 * maxAudit {
			f.change(Change{By: "me", Do: DoPurge, Target: "60s"})
			f.after(time.Millisecond)
		}
		f.connTwo.away(false)
		f.after(2 * pollInterval)
		if s := f.agree(); s.Cache["ip"].Values["ttl"] != "2h" {
			t.Errorf("%+v", s.Cache)
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

// TestPendingChangesAreBounded, and none is refused or lost: of more, those go that later ones
// cover, and drops become a purge of their endpoint.
func TestPendingChangesAreBounded(t *testing.T) {
	drop := func(n int) Change { return Change{Do: DoDrop, Target: "ip", Key: fmt.Sprintf("ip:%d", n)} }
	for name, row := range map[string]struct {
		change func(n int) Change
		most   int // pending
		purged bool
	}{
		"the same purge": {func(int) Change { return purgeIP }, maxPending, true},
		"as many purges": {func(n int) Change { return Change{Do: DoPurge, Target: fmt.Sprint(n), Hard: true} }, 3 * maxPending, false},
		"the same drop":  {func(int) Change { return drop(0) }, maxPending, false},
		"as many drops":  {drop, maxPending, true},
		"drops, and settings": {func(n int) Change {
			if n%2 == 0 {
				return drop(n)
			}
			return ttl("1h", 0)
		}, maxPending, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &connection{sharedStore: &sharedStore{}, down: true}
				replicator, _ := newReplicator(conn)
				made := map[int]time.Time{}
				for n := range 3 * maxPending {
					time.Sleep(time.Millisecond)
					made[n] = time.Now()
					if _, err := replicator.Change(t.Context(), row.change(n)); err != nil || replicator.Pending() > row.most {
						t.Fatalf("%v, %d are pending", err, replicator.Pending())
					}
				}
				conn.away(false)
				if err := replicator.sync(t.Context()); err != nil || replicator.Pending() != 0 {
					t.Fatalf("%v, %d are pending", err, replicator.Pending())
				}
				dropped := map[string]time.Time{}
				other := replicatorWith(conn, valid, &applied{})
				other.cfg.Purge = func(_ map[string]policy.Purge, orders []Order) {
					for _, o := range orders {
						dropped[o.Key] = o.At
					}
				}
				if err := other.sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				purges := other.Settings().Purges
				for n, at := range made {
					c := row.change(n)
					if c.Do != DoCache && purges[c.Target].Hard.Before(at) && (c.Do == DoPurge || dropped[c.Key].Before(at)) {
						t.Errorf("%+v is lost", c)
					}
				}
				if _, ok := purges["ip"]; ok != row.purged || purges["ip"].Hard.After(made[3*maxPending-1]) {
					t.Errorf("purges %v", purges)
				}
			})
		})
	}
}

// frozenStore replies to nobody.
type frozenStore struct{ File }

func (*frozenStore) Load(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestAChangeWaitsForNoStore: it is in force while the store has not replied, and others need not
// wait until it has.
func TestAChangeWaitsForNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replicator, at := newReplicator(&frozenStore{})
		ctx, stop := contextFor(t, time.Minute)
		defer stop()
		var asked sync.WaitGroup
		for n := range 3 {
			asked.Go(func() {
				if _, err := replicator.Change(ctx, Change{Do: DoDrop, Target: "ip", Key: fmt.Sprint(n)}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := len(at.orders()); n != 3 || replicator.Pending() != 3 {
			t.Errorf("%d orders of 3 are carried out, %d pending", n, replicator.Pending())
		}
		asked.Wait()
	})
}

// TestOvertaking: a pending change gives way to a later one that was unknown when it was made. No
// clock makes a change late that was known then, or one that could be stored at once.
func TestOvertaking(t *testing.T) {
	elsewhere := and(t, &Settings{}, Change{By: "other", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1m"}}).Audit[0].At
	for name, row := range map[string]struct {
		at     time.Time
		known  time.Time
		waited bool
		want   string
	}{
		"earlier, and waited":          {at: elsewhere.Add(-time.Second), waited: true, want: "1m"},
		"later, and waited":            {at: elsewhere.Add(time.Second), waited: true, want: "2m"},
		"its clock is behind":          {at: elsewhere.Add(-time.Hour), known: elsewhere, waited: true, want: "2m"},
		"it knew an earlier one":       {at: elsewhere.Add(-time.Hour), known: elsewhere.Add(-time.Minute), waited: true, want: "1m"},
		"at once, its clock is behind": {at: elsewhere.Add(-time.Hour), want: "2m"},
	} {
		stored := and(t, &Settings{}, Change{By: "other", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1m"}})
		ours := pendingChange{Change: Change{ID: "a", Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "2m"}}, At: row.at, Known: row.known, waited: row.waited}
		s, err := stored.withPending([]pendingChange{ours})
		if err != nil || s.Cache["ip"].Values["ttl"] != row.want {
			t.Fatalf("%s: %v %+v", name, err, s)
		}
		if r, ok := s.record("a"); !ok || r.Seq != 2 {
			t.Errorf("%s: %+v", name, r)
		}
		if again, err := s.withPending([]pendingChange{ours}); err != nil || again != s {
			t.Errorf("%s: made twice", name)
		}
	}
}
