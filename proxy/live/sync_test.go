package live

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache"
)

// TestAChangeArrivesWhateverIsLost on the way to an instance.
func TestAChangeArrivesWhateverIsLost(t *testing.T) {
	for name, row := range map[string]struct {
		lose   func(*line)
		within time.Duration
	}{
		"nothing":                  {func(*line) {}, 0},
		"the notice":               {func(l *line) { l.deaf = true }, 2 * pollEvery},
		"the read after a notice":  {func(l *line) { l.failing = 1 }, time.Second},
		"several reads":            {func(l *line) { l.failing = 5 }, 5 * pollEvery},
		"the notice and six reads": {func(l *line) { l.deaf, l.failing = true, 6 }, 6 * pollEvery},
	} {
		t.Run(name, func(t *testing.T) {
			together(t, func(f *fleet) {
				f.far.now(row.lose)
				f.change(ttl("1h", 0))
				f.after(row.within)
				if f.at.last()["ip"]["ttl"] != "1h" {
					t.Errorf("after %v: %v", row.within, f.at.last())
				}
			})
		})
	}
}

func TestAChangeArrivesAfterAnOutage(t *testing.T) {
	together(t, func(f *fleet) {
		f.far.now(func(l *line) { l.down = true })
		f.change(ttl("1h", 0))
		f.after(time.Hour)
		if len(f.at.last()) != 0 {
			t.Fatalf("through a dead line: %v", f.at.last())
		}
		f.far.now(func(l *line) { l.down = false })
		f.after(2 * pollEvery)
		if f.at.last()["ip"]["ttl"] != "1h" {
			t.Errorf("after the outage: %v", f.at.last())
		}
	})
}

// TestPaceIsBounded: neither a calm nor an outage makes many reads.
func TestPaceIsBounded(t *testing.T) {
	together(t, func(f *fleet) {
		for name, fault := range map[string]func(*line){"calm": func(*line) {}, "outage": func(l *line) { l.down = true }} {
			f.far.now(fault)
			before := f.far.readSoFar()
			f.after(10 * time.Minute)
			if n, want := f.far.readSoFar()-before, int(10*time.Minute/pollEvery); n < want/2 || n > 3*want {
				t.Errorf("%s: %d reads in ten minutes, want about %d", name, n, want)
			}
		}
	})
}

// TestAnAnswerLostIsLookedUp: a change that was kept is not called refused, and
// one whose fate is unknown is in force here and waits; it is not made twice.
func TestAnAnswerLostIsLookedUp(t *testing.T) {
	together(t, func(f *fleet) {
		f.near.now(func(l *line) { l.silent = 1 })
		if s := f.change(ttl("1h", 0)); s.Seq != 1 {
			t.Errorf("%+v", s)
		}
		f.near.now(func(l *line) { l.silent, l.dies = 1, true })
		if s := f.change(ttl("2h", 0)); s.Seq != 2 || f.one.Waiting() != 1 {
			t.Errorf("%+v", s)
		}
		if _, err := f.one.Change(f.ctx, Change{Do: "reset", Target: "h"}); !errors.Is(err, ErrStore) {
			t.Errorf("an order that cannot wait: %v", err)
		}
		f.near.now(func(l *line) { l.down = false })
		f.after(2 * pollEvery)
		if s := f.one.Settings(); s.Seq != 2 || len(s.Audit) != 2 || f.one.Waiting() != 0 || f.at.last()["ip"]["ttl"] != "2h" {
			t.Errorf("the change that was kept: %+v, %v", s, f.at.last())
		}
	})
}

// TestAStoreThatWentBackIsMended: what was changed since stands, on every
// instance, and is stored beyond both.
func TestAStoreThatWentBackIsMended(t *testing.T) {
	together(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.change(Change{Do: "purge", Target: "ip", Hard: true})
		f.after(time.Second)
		f.near.put(backup)
		f.after(2 * pollEvery)
		for _, at := range []*Tuner{f.one, f.two} {
			if s := at.Settings(); s.Seq < 4 || s.Live(time.Now())["ip"]["ttl"] != "2h" || s.Purges["ip"].Hard.IsZero() {
				t.Errorf("%+v", s)
			}
			if n := testutil.ToFloat64(at.seen.sequence); n != float64(f.one.Settings().Seq) {
				t.Errorf("sequence %v", n)
			}
		}
		if n := testutil.ToFloat64(f.one.seen.restores) + testutil.ToFloat64(f.two.seen.restores); n < 1 {
			t.Errorf("mended %v times", n)
		}
		late, at := newTuner(&line{board: f.near.board})
		if err := late.Join(f.ctx); err != nil || at.last()["ip"]["ttl"] != "2h" {
			t.Errorf("an instance that starts later: %v, %v", at.last(), err)
		}
	})
}

// TestAChangeDoesNotBuildOnAnOlderStore: the next change comes before anybody
// noticed.
func TestAChangeDoesNotBuildOnAnOlderStore(t *testing.T) {
	together(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.change(Change{Do: "purge", Target: "ip", Hard: true})
		f.after(time.Millisecond)
		f.near.put(backup)
		s := f.change(Change{Do: "breaker", Target: "h", Force: "open"})
		if s.Seq != 5 || s.Live(time.Now())["ip"]["ttl"] != "2h" || s.Purges["ip"].Hard.IsZero() || s.Breakers["h"].Force != "open" {
			t.Errorf("%+v", s)
		}
		f.after(2 * pollEvery)
		if f.two.Settings().Seq != 5 {
			t.Errorf("the other instance: %+v", f.two.Settings())
		}
	})
}

// TestTwoPastsBecomeOne: while one instance was cut off, the store went back and
// the other, restarted, was given changes of the same numbers.
func TestTwoPastsBecomeOne(t *testing.T) {
	together(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		if _, err := f.two.Change(f.ctx, ttl("2h", 0)); err != nil {
			t.Fatal(err)
		}
		f.far.now(func(l *line) { l.down = true })
		f.near.put(backup)
		fresh, _ := newTuner(f.near)
		for _, c := range []Change{{Do: "reset", Target: "h"}, {Do: "purge", Target: "60s"}, {Do: "drop", Target: "ip", Key: "ip:k"}} {
			if _, err := fresh.Change(f.ctx, c); err != nil {
				t.Fatal(err)
			}
		}
		f.far.now(func(l *line) { l.down = false })
		f.after(4 * pollEvery)
		one, two := f.one.Settings(), f.two.Settings()
		if !one.equals(two) || two.Live(time.Now())["ip"]["ttl"] != "2h" || two.Purges["60s"].Soft.IsZero() {
			t.Errorf("%+v\n%+v", one, two)
		}
		if len(f.at.orders()) != 2 {
			t.Errorf("orders carried out on the instance that was cut off: %v", f.at.orders())
		}
		before := f.one.Settings().Seq
		f.after(time.Hour)
		if n := f.one.Settings().Seq; n != before {
			t.Errorf("they do not agree: change %d became %d", before, n)
		}
	})
}

// TestAnOlderStoreThatCannotBeMendedChangesNothing: a replica that takes no
// writes.
func TestAnOlderStoreThatCannotBeMendedChangesNothing(t *testing.T) {
	together(t, func(f *fleet) {
		f.change(ttl("1h", 0))
		backup := f.stored()
		f.change(ttl("2h", 0))
		f.after(time.Second)
		for _, l := range []*line{f.near, f.far} {
			l.now(func(l *line) { l.readOnly = true })
		}
		f.near.put(backup)
		if _, err := f.one.Change(f.ctx, ttl("3h", 0)); !errors.Is(err, ErrStore) {
			t.Errorf("%v", err)
		}
		f.after(time.Minute)
		if f.at.last()["ip"]["ttl"] != "2h" || testutil.ToFloat64(f.two.seen.failures) == 0 {
			t.Errorf("%v", f.at.last())
		}
	})
}

// TestWhatCouldNotBeAppliedIsTriedAgain, and orders are not given twice.
func TestWhatCouldNotBeAppliedIsTriedAgain(t *testing.T) {
	together(t, func(f *fleet) {
		f.at.fail(errors.New("does not compile here"))
		f.change(ttl("1h", 0))
		f.change(Change{Do: "drop", Target: "ip", Key: "ip:k"})
		f.after(time.Minute)
		if len(f.at.last()) != 0 || testutil.ToFloat64(f.two.seen.failures) == 0 || !slices.Equal(f.at.orders(), []int64{2}) {
			t.Errorf("%v, orders %v", f.at.last(), f.at.orders())
		}
		f.at.fail(nil)
		f.after(2 * pollEvery)
		if f.at.last()["ip"]["ttl"] != "1h" || !slices.Equal(f.at.orders(), []int64{2}) {
			t.Errorf("%v, orders %v", f.at.last(), f.at.orders())
		}
	})
}

// TestOrdersOfAnAbsence: who was cut off carries out what was ordered meanwhile;
// what nobody remembers any more is purged.
func TestOrdersOfAnAbsence(t *testing.T) {
	together(t, func(f *fleet) {
		drop := Change{Do: "drop", Target: "ip", Key: "ip:k"}
		away := func(n int) {
			f.far.now(func(l *line) { l.down = true })
			for range n {
				f.change(drop)
			}
			f.far.now(func(l *line) { l.down = false })
			f.after(2 * pollEvery)
		}
		away(120)
		if n := len(f.at.orders()); n != 120 || len(f.at.purges()) != 0 {
			t.Errorf("%d orders of 120, purges %v", n, f.at.purges())
		}
		away(300)
		oldest := f.one.Settings().Audit[0].At
		if n := len(f.at.orders()); n != 120+auditMax || !f.at.purges()[cache.AllEndpoints].Hard.Equal(oldest) {
			t.Errorf("%d orders, purges %v, want all before %v", n, f.at.purges(), oldest)
		}
		if len(f.two.Settings().Purges) != 0 {
			t.Error("what this instance missed is told to the others")
		}
	})
}

func TestJoinIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, _ := newTuner(&line{board: &board{}, down: true})
		ctx, stop := contextFor(t, 2*time.Second)
		defer stop()
		start := time.Now()
		if err := dead.Join(ctx); !errors.Is(err, errAway) || time.Since(start) != 2*time.Second || dead.InStep() {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		short := &line{board: &board{}, failing: 2}
		lame, _ := newTuner(short)
		ctx, stop = contextFor(t, 2*time.Second)
		defer stop()
		if err := lame.Join(ctx); err != nil || !lame.InStep() {
			t.Errorf("after two failures: %v", err)
		}
		short.now(func(l *line) { l.down = true })
		if err := lame.look(ctx); err == nil || lame.InStep() {
			t.Errorf("in step with a store that is away: %v", err)
		}
	})
}
