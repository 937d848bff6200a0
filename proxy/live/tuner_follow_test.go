package live

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// fleet is two tuners that share a board; what the second applies is watched.
type fleet struct {
	*testing.T
	ctx      context.Context
	near     *line // the first's
	far      *line // the second's
	one, two *Tuner
	at       *applied
}

// together runs a story of two instances in a bubble.
func together(t *testing.T, story func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &board{}
		f := &fleet{T: t, near: &line{board: store}, far: &line{board: store}}
		f.one, _ = newTuner(f.near)
		f.two, f.at = newTuner(f.far)
		ctx, stop := context.WithCancel(t.Context())
		f.ctx = ctx
		go f.one.Run(ctx)
		go f.two.Run(ctx)
		synctest.Wait()
		story(f)
		stop()
		synctest.Wait()
	})
}

func (f *fleet) change(c Change) *Settings {
	f.Helper()
	s, err := f.one.Change(f.ctx, c)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fleet) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

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
