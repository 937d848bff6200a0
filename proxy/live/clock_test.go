package live

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/far"
	"sundry/cache/policy"
)

// otherClock is a store whose clock is ahead.
type otherClock struct {
	*connection
	ahead time.Duration
	err   error
}

func (s *otherClock) ClockOffset(context.Context) (time.Duration, error) { return s.ahead, s.err }

// TestAnOrderFromAClockThatIsBehind is given the time of the store; to the others it would be one
// of long ago; and one from a clock that is ahead.
func TestAnOrderFromAClockThatIsBehind(t *testing.T) {
	for name, row := range map[string]struct {
		store otherClock
		want  time.Duration
	}{
		"an hour behind":       {otherClock{ahead: time.Hour}, time.Hour},
		"two seconds behind":   {otherClock{ahead: 2 * time.Second}, 2 * time.Second},
		"half a second behind": {otherClock{ahead: time.Second / 2}, time.Second / 2},
		"an hour ahead":        {otherClock{ahead: -time.Hour}, -time.Hour},
		"a refusal":            {otherClock{ahead: time.Hour, err: far.ErrNoClock}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			withFleet(t, func(f *fleet) {
				row.store.connection = &connection{sharedStore: f.connOne.sharedStore}
				behind, _ := newReplicator(&row.store)
				if err := behind.FirstSync(f.ctx); err != nil {
					t.Fatal(err)
				}
				heard := time.Now()
				for _, c := range []Change{purgeIP, {Do: DoDrop, Target: "ip", Key: "ip:k"}} {
					if r, err := behind.Change(f.ctx, c); err != nil || !r.At.Equal(heard.Add(row.want)) {
						t.Errorf("%v: at %v, heard %v", err, r.At, heard)
					}
				}
				f.after(time.Second)
				if at := f.appliedTwo.purges()["ip"].Hard; !at.Equal(heard.Add(row.want)) {
					t.Errorf("elsewhere, the purge is of %v, heard %v", at, heard)
				}
			})
		})
	}
}

// TestSettingsAreDatedByTheStore: what an instance orders whose clock is an hour behind, or
// ahead, is stored as of the store's time, comes into force as of its own, and expires when it
// is due.
func TestSettingsAreDatedByTheStore(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			var purges map[string]policy.Purge
			var orders []Order
			var ttl atomic.Value
			r := NewReplicator(ReplicatorConfig{
				Store: &otherClock{connection: &connection{sharedStore: &sharedStore{}}, ahead: off}, Check: valid,
				Purge: func(p map[string]policy.Purge, o []Order) { purges, orders = p, append(orders, o...) },
				Apply: func(e EffectiveSettings) error { ttl.Store(e.Cache["ip"]["ttl"]); return nil },
				Log:   slog.New(slog.DiscardHandler),
			})
			ctx, stop := context.WithCancel(t.Context())
			defer synctest.Wait()
			defer stop()
			go r.Run(ctx)
			synctest.Wait()
			at := auditTime(time.Now())
			for _, c := range []Change{
				{Do: DoPurge, Target: "ip", Hard: true}, {Do: DoPurge, Target: "kd"}, {Do: DoDrop, Target: "ip", Key: "ip:k"},
				{Do: DoCache, Target: "ip", Cache: map[string]string{"ttl": "1h"}, For: 10 * time.Minute},
			} {
				if _, err := r.Change(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
			s := r.Settings()
			if p := s.Purges["ip"].Hard; !p.Equal(at.Add(off)) || !s.ops()[0].At.Equal(p) || !s.Audit[0].At.Equal(p) {
				t.Errorf("stored as of %v, %v and %v, the store's time is %v", p, s.ops()[0].At, s.Audit[0].At, at.Add(off))
			}
			if want := (policy.Purge{Hard: at}); purges["ip"] != want || !purges["kd"].Soft.Equal(at) || len(orders) != 1 || !orders[0].At.Equal(at) {
				t.Errorf("in force here as of %+v and %v, and it is %v", purges, orders, at)
			}
			time.Sleep(10*time.Minute - time.Second)
			synctest.Wait()
			if got := ttl.Load(); got != "1h" {
				t.Errorf("it has expired early: %q", got)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := ttl.Load(); got != "" {
				t.Errorf("it has not expired: %q", got)
			}
		})
	}
}

// TestWhatIsPendingIsDatedByTheStore once that can be reached for the first time: by its own
// clock, that of an instance that is an hour behind would spare what was cached elsewhere since,
// and one that is ahead would purge what was cached after it.
func TestWhatIsPendingIsDatedByTheStore(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		withFleet(t, func(f *fleet) {
			store := &otherClock{connection: &connection{sharedStore: f.connOne.sharedStore}, ahead: off, err: errAway}
			store.away(true)
			r, at := newReplicator(store)
			given := auditTime(time.Now())
			for _, c := range []Change{purgeIP, {Do: DoDrop, Target: "ip", Key: "ip:k"}} {
				if _, err := r.Change(f.ctx, c); err != nil {
					t.Fatal(err)
				}
			}
			f.after(10 * time.Minute)
			store.away(false)
			store.err = nil
			if err := r.sync(f.ctx); err != nil || r.Pending() != 0 {
				t.Fatalf("%v, %d pending", err, r.Pending())
			}
			f.after(time.Second)
			s, want := f.agree(), given.Add(off)
			if p := s.Purges["ip"].Hard; !p.Equal(want) || !s.ops()[0].At.Equal(want) || !f.appliedTwo.purges()["ip"].Hard.Equal(want) {
				t.Errorf("%v ahead: stored as of %v and %v, given at %v of the store", off, p, s.ops()[0].At, want)
			}
			if p := at.purges()["ip"].Hard; !p.Equal(given) || len(at.orders()) != 1 {
				t.Errorf("%v ahead: here it is of %v, given at %v; %d orders", off, p, given, len(at.orders()))
			}
		})
	}
}

// TestAClockThatIsSet has what is in force dated anew: what is cached is dated by that clock.
func TestAClockThatIsSet(t *testing.T) {
	withFleet(t, func(f *fleet) {
		store := &otherClock{connection: &connection{sharedStore: f.connOne.sharedStore}}
		f.change(purgeIP)
		at := f.one.Settings().Purges["ip"].Hard
		three, applied := newReplicator(store)
		if err := three.FirstSync(f.ctx); err != nil || !applied.purges()["ip"].Hard.Equal(at) {
			t.Fatalf("%v: %+v, want %v", err, applied.purges(), at)
		}
		store.ahead = time.Hour // as this one was set back
		if err := three.FirstSync(f.ctx); err != nil || !applied.purges()["ip"].Hard.Equal(at.Add(-time.Hour)) {
			t.Errorf("%v: %+v, want %v", err, applied.purges(), at.Add(-time.Hour))
		}
	})
}

// TestOrdersAreDatedAnew where the clock was not known when they were carried out, or was set since. An instance that does not know the
// clock is not in sync.
func TestOrdersAreDatedAnew(t *testing.T) {
	withFleet(t, func(f *fleet) {
		store := &otherClock{connection: &connection{sharedStore: f.connOne.sharedStore}, err: far.ErrNoClock}
		f.change(Change{Do: DoDrop, Target: "ip", Key: "ip:k"})
		at, ran := f.one.Settings().ops()[0].At, []time.Time(nil)
		three, applied := newReplicator(store)
		if err := three.FirstSync(f.ctx); err != nil || len(applied.orders()) != 1 || three.InSync() {
			t.Fatalf("%v: %+v, in sync: %v", err, applied.orders(), three.InSync())
		}
		store.err = nil
		three.cfg.Purge = func(_ map[string]policy.Purge, orders []Order) {
			for _, o := range orders {
				ran = append(ran, o.At)
			}
		}
		for _, row := range []struct {
			ahead time.Duration
			want  []time.Time
		}{
			{-2 * time.Minute, []time.Time{at.Add(2 * time.Minute)}},
			{-2*time.Minute + maxSkew/2, nil}, // which readings may differ by
			{time.Minute, []time.Time{at.Add(-time.Minute)}},
		} {
			ran, store.ahead = nil, row.ahead
			if err := three.FirstSync(f.ctx); err != nil || !slices.EqualFunc(ran, row.want, time.Time.Equal) || !three.InSync() {
				t.Errorf("%v: carried out as of %v, want %v, in sync: %v", err, ran, row.want, three.InSync())
			}
		}
	})
}

// TestNothingIsInForceBeforeTheClockIsKnown: a purge without a date could be of the future. Later, a clock that cannot be read does no harm.
func TestNothingIsInForceBeforeTheClockIsKnown(t *testing.T) {
	withFleet(t, func(f *fleet) {
		store := &otherClock{connection: &connection{sharedStore: f.connOne.sharedStore}, ahead: time.Hour, err: errAway}
		f.change(purgeIP)
		three, applied := newReplicator(store)
		ctx, stop := context.WithTimeout(f.ctx, time.Second)
		defer stop()
		if err := three.FirstSync(ctx); !errors.Is(err, errAway) || applied.purges() != nil || three.InSync() {
			t.Fatalf("%v: %v, in sync: %v", err, applied.purges(), three.InSync())
		}
		store.err = nil
		want := f.one.Settings().Purges["ip"].Hard.Add(-time.Hour)
		if err := three.FirstSync(f.ctx); err != nil || !applied.purges()["ip"].Hard.Equal(want) {
			t.Fatalf("%v: %v, want %v", err, applied.purges(), want)
		}
		store.err = errAway
		f.change(purgeIP)
		if err := three.FirstSync(f.ctx); err != nil || !applied.purges()["ip"].Hard.After(want) || !three.InSync() {
			t.Errorf("%v: %v, in sync: %v", err, applied.purges(), three.InSync())
		}
	})
}

// TestOrdersAreNotDatedAnew by an instance that knew the clock when it carried them out, however little that changes since.
func TestOrdersAreNotDatedAnew(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(Change{Do: DoDrop, Target: "ip", Key: "ip:k"})
		store := &otherClock{connection: &connection{sharedStore: f.connOne.sharedStore}, ahead: time.Hour}
		three, applied := newReplicator(store)
		for range 3 {
			if err := three.FirstSync(f.ctx); err != nil {
				t.Fatal(err)
			}
			store.ahead += maxSkew / 4
		}
		if n := len(applied.orders()); n != 1 {
			t.Errorf("carried out %d times", n)
		}
	})
}

// TestWhatIsSaidOfClocks is true: that they disagree, and once they do not, that they agree.
func TestWhatIsSaidOfClocks(t *testing.T) {
	var lines bytes.Buffer
	store := &otherClock{connection: &connection{sharedStore: &sharedStore{}}}
	r, _ := newReplicator(store)
	r.cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
	for _, row := range []struct {
		ahead time.Duration
		want  string // a part of the line; "" for none
	}{
		{0, ""}, {time.Hour, "is not that of the store"}, {time.Hour, ""}, {2 * time.Hour, "is not that of the store"},
		{maxSkew - maxSkew/4, "agrees with that of the store again"}, {maxSkew/4 - maxSkew, ""}, {-time.Hour, "is not that of the store"}, {0, "agrees with that of the store again"},
	} {
		lines.Reset()
		store.ahead = row.ahead
		if err := r.readClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := lines.String(); (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("%v ahead: %q, want %q", row.ahead, got, row.want)
		}
	}
}
