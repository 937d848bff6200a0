package live

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/policy"
)

// TestDamagedSettingsAreRepairedByWhoKnowsThem, as they were, and soon; who does not know them
// waits for that.
func TestDamagedSettingsAreRepairedByWhoKnowsThem(t *testing.T) {
	for name, garbage := range map[string]string{
		"garbage": "garbage", "half": `{"seq":7,"aud`, "a list": "[]", "another type": `{"seq":"7"}`, "below zero": `{"seq":-1}`, "beyond all": `{"seq":9223372036854775807}`, "a record beyond all": `{"seq":2,"audit":[{"seq":9223372036854775807}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			withFleet(t, func(f *fleet) {
				f.change(ttl("1h", 0))
				f.change(purgeIP)
				f.after(time.Second)
				f.connOne.put([]byte(garbage))
				late, at := newReplicator(&connection{sharedStore: f.connOne.sharedStore})
				if err := late.sync(f.ctx); err == nil || late.InSync() {
					t.Errorf("an instance that knows nothing: %v", err)
				}
				if _, err := late.Change(f.ctx, Change{Do: DoDrop, Target: "ip", Key: "ip:k"}); err != nil || late.Pending() != 1 || !slices.Equal(at.orders(), []int64{1}) {
					t.Errorf("a drop on it: %v, orders %v", err, at.orders())
				}
				f.after(2 * pollInterval)
				if s := f.agree(); s.Seq != 3 || s.Cache["ip"].Values["ttl"] != "1h" || len(s.Purges) != 1 || s.Audit[2].Do != DoRestore {
					t.Errorf("repaired to %+v", s)
				}
				if n := testutil.ToFloat64(f.one.metrics.repairs) + testutil.ToFloat64(f.two.metrics.repairs); n != 1 {
					t.Errorf("repaired %v times", n)
				}
				if err := late.sync(f.ctx); err != nil || late.Settings().Seq != 4 || late.Pending() != 0 || at.last()["ip"]["ttl"] != "1h" {
					t.Errorf("%v: %+v", err, late.Settings())
				}
			})
		})
	}
}

// TestDamagedSettingsThatNobodyKnows: after a while it begins anew, without what was cached
// before, which may have been purged.
func TestDamagedSettingsThatNobodyKnows(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		for _, c := range []*connection{f.connOne, f.connTwo} {
			c.away(true)
		}
		f.after(time.Minute)
		f.connOne.put([]byte("garbage"))
		fresh := &connection{sharedStore: f.connOne.sharedStore}
		late, at := newReplicator(fresh)
		go late.Run(f.ctx)
		f.after(damageWait - pollInterval)
		if late.InSync() || string(f.stored()) != "garbage" {
			t.Errorf("in sync %v with %s", late.InSync(), f.stored())
		}
		f.after(3 * pollInterval)
		s := late.Settings()
		if p := at.purges()[policy.AllEndpoints].Hard; !late.InSync() || s.Seq != 2 || time.Since(p) > 4*pollInterval || s.Audit[len(s.Audit)-1].Do != DoRestore {
			t.Errorf("%+v, purges %v", s, at.purges())
		}
		for _, c := range []*connection{f.connOne, f.connTwo} { // who knew an older state adds it
			c.away(false)
		}
		f.after(4 * pollInterval)
		if s := f.agree(); s.ActiveCache(time.Now())["ip"]["ttl"] != "1h" || s.Purges[policy.AllEndpoints].Hard.IsZero() || !same(t, s, late.Settings()) {
			t.Errorf("%+v", s)
		}
	})
}

// TestDamagedSettingsOfAReadOnlyStore are repaired once it takes writes, and changes made
// meanwhile are in force here.
func TestDamagedSettingsOfAReadOnlyStore(t *testing.T) {
	withFleet(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		f.after(time.Second)
		for _, c := range []*connection{f.connOne, f.connTwo} {
			c.inject(func(c *connection) { c.readOnly = true })
		}
		f.connOne.put([]byte("garbage"))
		fresh := &connection{sharedStore: f.connOne.sharedStore}
		fresh.inject(func(c *connection) { c.readOnly = true })
		late, _ := newReplicator(fresh)
		go late.Run(f.ctx)
		f.after(2 * damageWait)
		if late.InSync() {
			t.Error("who knows nothing, and can store nothing, says that it is in sync")
		}
		if s := f.change(purgeIP); s.Purges["ip"].Hard.IsZero() || f.one.Pending() != 1 || !f.one.InSync() {
			t.Errorf("%+v, %d pending, in sync %v", s, f.one.Pending(), f.one.InSync())
		}
		for _, c := range []*connection{f.connOne, f.connTwo} {
			c.inject(func(c *connection) { c.readOnly = false })
		}
		f.after(2 * pollInterval)
		if s := f.agree(); s.Seq != 3 || len(s.Purges) != 1 {
			t.Errorf("%+v", s)
		}
	})
}
