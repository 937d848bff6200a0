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

	"sundry/cache/policy"
	"sundry/metrics/words"
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

// flown is an instance with a pilot for one endpoint, which doubles the TTL once the last
// change is two hours old.
type flown struct {
	*Pilot
	store *awayStore
	from  time.Time // when it started

	mu  sync.Mutex
	ttl time.Duration // in force
}

func (f *flown) endpoint() Endpoint {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Endpoint{"ip", f.ttl, time.Minute, 24 * time.Hour}
}

func (f *flown) step(_ string, since, now time.Time) (time.Duration, words.Text, bool) {
	if since.IsZero() {
		since = f.from
	}
	if now.Sub(since) < 2*time.Hour {
		return f.inForce(), words.Text{}, true
	}
	return 2 * f.inForce(), words.Say("because", ""), true
}

// fly starts an instance on a store, until the bubble's test ends.
func fly(t *testing.T, file *live.File, alone bool) *flown {
	t.Helper()
	f := &flown{store: &awayStore{File: file}, ttl: 10 * time.Minute, from: time.Now()}
	log := slog.New(slog.DiscardHandler)
	replicator := live.NewReplicator(live.ReplicatorConfig{
		Store: f.store, Log: log, Check: func(map[string]map[string]string) error { return nil }, Purge: func(map[string]policy.Purge, []live.Order) {},
		Apply: func(e live.EffectiveSettings) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			ttl := 10 * time.Minute
			if text, ok := e.Cache["ip"]["ttl"]; ok {
				ttl, _ = time.ParseDuration(text)
			}
			f.ttl = ttl
			return nil
		},
	})
	f.Pilot = New(Config{Endpoints: func() []Endpoint { return []Endpoint{f.endpoint()} }, Step: f.step, Replicator: replicator, Log: log})
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
		time.Sleep(time.Hour)
		late.store.set(true)
		decided := late.endpoint()
		until(t, "the first has stepped", func() bool { return len(first.audit()) > 0 })
		late.store.set(false)
		late.look(t.Context(), &decided, time.Now())
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
		e := f.endpoint()
		f.look(t.Context(), &e, time.Now())
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

// TestStepsStayWithinBounds, keep what else an operator has set, and leave alone what
// expires by itself.
func TestStepsStayWithinBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := fly(t, &live.File{}, true)
		set := map[string]string{"ttl": "12m", "grace": "1h"}
		if _, err := f.cfg.Replicator.Change(t.Context(), live.Change{By: "op", Do: live.DoCache, Target: "ip", Cache: set, For: 24 * time.Hour}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(23 * time.Hour)
		if n := len(f.audit()); n != 1 || f.Status("ip").Why.EN() == "" {
			t.Fatalf("%d changes while an operator's lasts, %+v", n, f.Status("ip"))
		}
		if _, err := f.cfg.Replicator.Change(t.Context(), live.Change{By: "op", Do: live.DoCache, Target: "ip", Cache: set}); err != nil {
			t.Fatal(err)
		}
		until(t, "the longest TTL", func() bool { return f.inForce() == 24*time.Hour })
		for _, r := range f.audit()[2:] {
			if r.By != live.ByAutopilot || r.Note == "" {
				t.Errorf("%+v", r)
			}
		}
		if got := f.cfg.Replicator.Settings().ActiveCache(time.Now())["ip"]; got["grace"] != "1h" {
			t.Errorf("%v", got)
		}
		outside := Endpoint{"ip", time.Second, time.Minute, time.Hour}
		if ttl, why := f.decide(&outside, f.cfg.Replicator.Settings(), time.Now()); ttl < outside.Min || ttl > outside.Max || why.EN() == "" {
			t.Errorf("%v %+v", ttl, why)
		}
	})
}

func (f *flown) inForce() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ttl
}
