package autopilot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache"
	"sundry/proxy/live"
)

// awayStore is a store that can be out of reach.
type awayStore struct {
	*live.File
	mu   sync.Mutex
	away bool
}

var errAway = errors.New("away")

func (s *awayStore) Load(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errAway
	}
	return s.File.Load(ctx)
}

func (s *awayStore) set(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

// flown is an instance with a pilot for one endpoint, whose advice is always the same: to
// double the TTL.
type flown struct {
	*Pilot
	store *awayStore

	mu   sync.Mutex
	ttl  time.Duration // in force
	from time.Time     // since when
	bad  bool          // what happens is not what was predicted
}

func (f *flown) rules() []Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := known()
	r.Policy.TTL = f.ttl
	r.Advice.Present = r.Advice.Prediction.Of(r.Policy)
	recommend(r, 2*f.ttl)
	r.Advice.Measured = measured(r.Policy, &r.Advice.Present, time.Since(f.from))
	r.Advice.Measured.Since = f.from
	if f.bad {
		r.Advice.Measured.OldShare = 0.5
	}
	r.Max = 24 * time.Hour
	return []Rule{*r}
}

// fly starts an instance on a store, until the bubble's test ends.
func fly(t *testing.T, file *live.File, alone bool) *flown {
	t.Helper()
	f := &flown{store: &awayStore{File: file}, ttl: 10 * time.Minute, from: time.Now()}
	log := slog.New(slog.DiscardHandler)
	replicator, err := live.NewReplicator(live.ReplicatorConfig{
		Store: f.store, Log: log, Check: func(map[string]map[string]string) error { return nil }, Purge: func(map[string]cache.Purge, []live.Order) {},
		Apply: func(e live.EffectiveSettings) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			ttl := 10 * time.Minute
			if text, ok := e.Cache["ip"]["ttl"]; ok {
				ttl, _ = time.ParseDuration(text)
			}
			if ttl != f.ttl {
				f.ttl, f.from = ttl, time.Now()
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f.Pilot, err = New(Config{Rules: f.rules, Replicator: replicator, Log: log}); err != nil {
		t.Fatal(err)
	}
	if err := replicator.FirstSync(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	if !alone { // else nobody changes what is stored behind its back
		running.Go(func() { replicator.Run(ctx) })
	}
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return f
}

func (f *flown) audit() []live.Record { return f.cfg.Replicator.Settings().Audit }

func (f *flown) count(result string) float64 {
	return testutil.ToFloat64(f.steps.WithLabelValues(result))
}

// TestOneInstanceOfAFleetSteps: of three that decide the same, each step is made once, and
// all that were late have counted so.
func TestOneInstanceOfAFleetSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &live.File{}
		fleet := []*flown{fly(t, file, false), fly(t, file, false), fly(t, file, false)}
		time.Sleep(12 * time.Hour)
		synctest.Wait()
		last, raised := 10*time.Minute, 0.0
		for _, r := range fleet[0].audit() {
			var after struct{ Values map[string]string }
			if err := json.Unmarshal(r.After, &after); err != nil || r.By != live.ByAutopilot {
				t.Fatalf("%+v %v", r, err)
			}
			if ttl, _ := time.ParseDuration(after.Values["ttl"]); ttl != 2*last {
				t.Errorf("from %v to %v", last, ttl)
			}
			last *= 2
		}
		for _, f := range fleet {
			raised += f.count(stepRaised)
			if f.count(stepFailed) != 0 || f.count(stepLowered) != 0 || f.inForce() != last {
				t.Errorf("%v failed, the ttl is %v", f.count(stepFailed), f.inForce())
			}
		}
		if n := len(fleet[0].audit()); n < 2 || raised != float64(n) {
			t.Errorf("%v steps, %d in the audit log", raised, n)
		}
	})
}

// TestWhoIsLateDoesNotStep: what was decided before another instance stepped is not done.
func TestWhoIsLateDoesNotStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &live.File{}
		first, late := fly(t, file, false), fly(t, file, false)
		time.Sleep(3 * time.Hour)
		late.store.set(true)
		decided := late.rules()[0]
		decided.Advice.Measured = known().Advice.Measured
		decided.Advice.Measured.Since = time.Now().Add(-10 * time.Hour)
		until(t, "the first has stepped", func() bool { return len(first.audit()) > 0 })
		late.store.set(false)
		late.look(t.Context(), &decided)
		if late.count(stepOvertaken) != 1 || late.count(stepRaised) != 0 || first.count(stepRaised) != 1 {
			t.Errorf("%v overtaken, %v steps", late.count(stepOvertaken), late.count(stepRaised))
		}
		until(t, "both have the same", func() bool { return late.inForce() == first.inForce() && len(late.audit()) == 1 })
	})
}

// until lets time pass until something is so, for three weeks at most.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(21 * 24 * time.Hour); !so(); time.Sleep(10 * time.Minute) {
		synctest.Wait()
		if time.Now().After(end) {
			t.Fatalf("not after three weeks: %s", what)
		}
	}
}

// TestNoStepWithoutTheStore: an instance that is cut off does nothing, and goes on when the
// store is back.
func TestNoStepWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t, &live.File{}, false)
		time.Sleep(time.Minute)
		f.store.set(true)
		time.Sleep(12 * time.Hour)
		if n := len(f.audit()); n != 0 || f.count(stepFailed) != 0 {
			t.Errorf("%d changes, %v failed", n, f.count(stepFailed))
		}
		r := f.rules()[0]
		f.look(t.Context(), &r)
		if n := f.cfg.Replicator.Pending(); n != 0 || f.count(stepFailed) != 1 {
			t.Errorf("%d changes are pending, %v failed", n, f.count(stepFailed))
		}
		f.store.set(false)
		time.Sleep(time.Hour)
		if len(f.audit()) == 0 {
			t.Error("no step once the store is back")
		}
	})
}

// TestStepsBackInARow: each is followed by a longer pause, and what an operator had set
// before is in force again. A step that keeps its promise ends the row.
func TestStepsBackInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t, &live.File{}, true)
		time.Sleep(time.Second)
		set := map[string]string{"ttl": "12m", "grace": "1h"}
		if _, err := f.cfg.Replicator.Change(t.Context(), live.Change{By: "op", Do: live.DoCache, Target: "ip", Cache: set}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(handsOff - time.Minute)
		if len(f.audit()) != 1 {
			t.Fatalf("a step within a day: %+v", f.audit())
		}
		until(t, "a step", func() bool { return len(f.audit()) > 1 })
		for reverts := 1; reverts <= 2; reverts++ {
			until(t, "a step", func() bool { return f.trial().Reverted.IsZero() })
			f.set(true)
			until(t, "a step back", func() bool { return f.trial().Reverts == reverts })
			trial := f.trial()
			if pause := trial.Until.Sub(trial.Reverted); pause != 24*time.Hour<<(reverts-1) {
				t.Errorf("after %d in a row, %v", reverts, pause)
			}
			if got := f.cfg.Replicator.Settings().ActiveCache(time.Now())["ip"]; got["grace"] != "1h" || f.inForce() != trial.From {
				t.Errorf("%v, the ttl is %v after a step from %v", got, f.inForce(), trial.From)
			}
			f.set(false)
		}
		until(t, "a step after the pause", func() bool { return f.trial().Reverted.IsZero() })
		if f.trial().Reverts != 2 {
			t.Errorf("it has forgotten: %+v", f.trial())
		}
		until(t, "a step after one that held", func() bool { return f.trial().Reverts == 0 })
		_, last := f.Status(f.rules()[0])
		if last == nil || last.At != f.trial().At {
			t.Errorf("%+v", last)
		}
	})
}

func (f *flown) inForce() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ttl
}

func (f *flown) set(bad bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bad = bad
}

func (f *flown) trial() live.Trial { return f.cfg.Replicator.Settings().Trials["ip"] }
