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

// TestAPurgeWithoutTheStoreIsInForceAtOnce, on this instance, and on every other
// once the store is back; nothing is called restored.
func TestAPurgeWithoutTheStoreIsInForceAtOnce(t *testing.T) {
	together(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		f.after(time.Second)
		f.near.away(true)
		at := time.Now()
		s := f.change(purgeIP)
		drop := f.change(Change{By: "me", Do: "drop", Target: "60s", Key: "60s:k"})
		if !s.Purges["ip"].Hard.Equal(at) || drop.Seq != 3 || f.one.Waiting() != 2 || testutil.ToFloat64(f.one.seen.pending) != 2 {
			t.Errorf("%+v, %d wait", drop, f.one.Waiting())
		}
		if _, kept := f.one.Audit(); kept != 1 || testutil.ToFloat64(f.one.seen.sequence) != 1 {
			t.Errorf("kept up to %d", kept)
		}
		f.after(time.Hour)
		if len(f.at.purges()) != 0 || f.one.Waiting() != 2 {
			t.Errorf("elsewhere, while the store is away: %v", f.at.purges())
		}
		f.near.away(false)
		f.after(2 * pollEvery)
		if s := f.agree(); s.Seq != 3 || !s.Purges["ip"].Hard.Equal(at) || !f.at.purges()["ip"].Hard.Equal(at) || !slices.Equal(f.at.orders(), []int64{3}) {
			t.Errorf("%+v, elsewhere %v, orders %v", s, f.at.purges(), f.at.orders())
		}
		if n := testutil.ToFloat64(f.one.seen.restores); n != 0 {
			t.Errorf("restored %v times", n)
		}
	})
}

// TestPendingChangesMeetOthers that were made meanwhile: of a target the later
// one stands, of purges and drops all do, and an order is carried out once.
func TestPendingChangesMeetOthers(t *testing.T) {
	together(t, func(f *fleet) {
		of := func(target, v string) Change {
			return Change{By: "me", Do: "knobs", Target: target, Knobs: map[string]string{"ttl": v}}
		}
		elsewhere := func(c Change) {
			if _, err := f.two.Change(f.ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		f.near.away(true)
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
		f.near.away(false)
		f.after(3 * pollEvery)
		s := f.agree()
		if diff := cmp.Diff(map[string]map[string]string{"60s": {"ttl": "2m"}, "ip": {"ttl": "4m"}}, s.Live(time.Now())); diff != "" {
			t.Error(diff)
		}
		if m := s.Purges["ip"]; !m.Hard.Equal(purged) || m.Soft.IsZero() || len(s.Orders) != 2 {
			t.Errorf("%+v", s)
		}
		if !slices.ContainsFunc(s.Audit, func(r Record) bool { return r.Do == "overtaken" && r.Target == "ip" }) {
			t.Errorf("nobody says that a change was overtaken: %+v", s.Audit)
		}
		if len(f.at.orders()) != 2 {
			t.Errorf("orders carried out elsewhere: %v", f.at.orders())
		}
		before := s.Seq
		if f.after(time.Hour); f.agree().Seq != before {
			t.Errorf("they do not come to rest: change %d became %d", before, f.one.Settings().Seq)
		}
	})
}

// TestPendingDropsAreCarriedOutOnce on the instance that they were made on, and
// those of others there, too.
func TestPendingDropsAreCarriedOutOnce(t *testing.T) {
	together(t, func(f *fleet) {
		f.far.away(true)
		if _, err := f.two.Change(f.ctx, Change{Do: "drop", Target: "ip", Key: "ip:mine"}); err != nil {
			t.Fatal(err)
		}
		f.change(Change{Do: "drop", Target: "ip", Key: "ip:theirs"})
		f.far.away(false)
		f.after(2 * pollEvery)
		f.agree()
		if n := len(f.at.orders()); n != 2 {
			t.Errorf("%v: want its own at once, then the other", f.at.orders())
		}
	})
}

// TestPendingChangesOutliveTheStore: it comes back empty, or as it was long ago,
// or the instance had never reached it.
func TestPendingChangesOutliveTheStore(t *testing.T) {
	for name, row := range map[string]struct {
		before bool // changes, of which the store remembers the first
		put    func(backup []byte) []byte
		want   string // ttl of ip
	}{
		"empty":           {true, func([]byte) []byte { return nil }, "2h"},
		"restored":        {true, func(backup []byte) []byte { return backup }, "2h"},
		"never anything":  {false, func([]byte) []byte { return nil }, ""},
		"never looked at": {false, func([]byte) []byte { b, _ := json.Marshal(longPast(300)); return b }, "300s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &line{board: &board{}, down: !row.before}
				tuner, at := newTuner(l)
				ctx, stop := contextFor(t, time.Hour)
				go tuner.Run(ctx)
				synctest.Wait()
				var backup []byte
				for _, v := range []string{"1h", "2h"} {
					if !row.before {
						break
					}
					if _, err := tuner.Change(ctx, ttl(v, 0)); err != nil {
						t.Fatal(err)
					}
					if backup == nil {
						backup = l.mem
					}
				}
				l.away(true)
				if _, err := tuner.Change(ctx, purgeIP); err != nil {
					t.Fatal(err)
				}
				if at.purges()["ip"].Hard.IsZero() {
					t.Error("not in force here")
				}
				l.put(row.put(backup))
				l.away(false)
				time.Sleep(2 * pollEvery)
				synctest.Wait()
				var stored Settings
				if err := json.Unmarshal(l.mem, &stored); err != nil || stored.Purges["ip"].Hard.IsZero() || tuner.Waiting() != 0 {
					t.Errorf("%v: %+v", err, stored)
				}
				if got := stored.Live(time.Now())["ip"]["ttl"]; got != row.want || len(stored.Knobs) > 1 && stored.Knobs["first"].Values == nil {
					t.Errorf("ttl %q, want %q", got, row.want)
				}
				stop()
				synctest.Wait()
			})
		})
	}
}

// longPast is settings of so many changes, of which the audit forgot the first.
func longPast(n int) *Settings {
	s, _ := (&Settings{}).With(Change{Do: "knobs", Target: "first", Knobs: map[string]string{"ttl": "1s"}}, nine)
	for range n {
		s, _ = s.With(ttl("300s", 0), nine)
	}
	return s
}

// TestPendingChangesSeeWhatCannotBeWrittenOver: the store can be read again and
// takes no writes; purges from elsewhere count here all the same.
func TestPendingChangesSeeWhatCannotBeWrittenOver(t *testing.T) {
	together(t, func(f *fleet) {
		f.far.away(true)
		if _, err := f.two.Change(f.ctx, purgeIP); err != nil {
			t.Fatal(err)
		}
		f.change(Change{Do: "purge", Target: "60s"})
		f.far.now(func(l *line) { l.down, l.readOnly = false, true })
		f.after(2 * pollEvery)
		if p := f.at.purges(); p["60s"].Soft.IsZero() || p["ip"].Hard.IsZero() || f.two.Waiting() != 1 {
			t.Errorf("%v, %d wait", p, f.two.Waiting())
		}
		f.far.now(func(l *line) { l.readOnly = false })
		f.after(2 * pollEvery)
		f.agree()
	})
}

func TestPendingChangesAreBounded(t *testing.T) {
	tuner, _ := newTuner(&line{board: &board{}, down: true})
	for range pendingMax {
		if _, err := tuner.Change(t.Context(), purgeIP); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tuner.Change(t.Context(), purgeIP); !errors.Is(err, ErrStore) || tuner.Waiting() != pendingMax {
		t.Errorf("%v", err)
	}
}
