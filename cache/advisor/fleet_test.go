package advisor

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sundry/cache"
)

// shelf is one in memory.
type shelf struct {
	values     map[string][]byte
	broken     bool
	beforeTake func() // nil: nothing happens
}

var errBroken = errors.New("broken")

func (s *shelf) Put(_ context.Context, name string, value []byte) error {
	if s.broken {
		return errBroken
	}
	s.values[name] = value
	return nil
}

func (s *shelf) Names(context.Context) (names []string, err error) {
	if s.broken {
		return nil, errBroken
	}
	for name := range s.values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

func (s *shelf) Get(_ context.Context, name string) ([]byte, error) { return s.values[name], nil }

func (s *shelf) Take(_ context.Context, name string) ([]byte, error) {
	if s.beforeTake != nil {
		s.beforeTake()
	}
	v := s.values[name]
	delete(s.values, name)
	return v, nil
}

// fleet is a few instances that share a shelf, with a rule in force.
func newTestFleet(policy *cache.Policy, now time.Time, names ...string) (all []*Fleet) {
	on := &shelf{values: map[string][]byte{}}
	for _, name := range names {
		all = append(all, &Fleet{Advisor: ruled(policy, now), Shelf: on, Self: name, Log: slog.New(slog.DiscardHandler)})
	}
	return all
}

func rounds(t *testing.T, now time.Time, fleets ...*Fleet) {
	t.Helper()
	for range 2 { // in the second, all have seen all
		for _, f := range fleets {
			if err := f.Round(t.Context(), now, false); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// spread tells one of the instances, by chance, and one that is told everything.
type spread struct {
	chance *rand.Rand
	fleet  []*Fleet
	single *Advisor
	*Advisor
}

func (s *spread) any() *Advisor { return s.fleet[s.chance.IntN(len(s.fleet))].Advisor }

func (s *spread) Filled(f cache.Filled) {
	s.any().Filled(f)
	s.single.Filled(f)
}

func (s *spread) Requested(space string, key uint64, weight uint32, now time.Time) uint32 {
	s.any().Requested(space, key, 1, now)
	return s.single.Requested(space, key, 1, now)
}

func (s *spread) Waited(space string) {
	s.any().Waited(space)
	s.single.Waited(space)
}

func (s *spread) Called(space string) {
	s.any().Called(space)
	s.single.Called(space)
}

// TestAFleetKnowsWhatOneInstanceWould: three instances among which chance divides requests
// and refreshes, beside one that sees them all: whatever the content changes by, each of the
// three says the same as that one, and so does a fourth that has just come.
func TestAFleetKnowsWhatOneInstanceWould(t *testing.T) {
	for name, row := range map[string]struct {
		source source
		gaps   []time.Duration
	}{
		"at random": {atRandom(30 * time.Minute), []time.Duration{20 * time.Second}},
		"daily":     {every(24*time.Hour, 6*time.Hour), []time.Duration{time.Minute}},
		"many keys": {atRandom(3 * time.Hour), slices.Repeat([]time.Duration{30 * time.Second, 3 * time.Minute, 20 * time.Minute, time.Hour}, 3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := usual(10*time.Minute, time.Minute)
			from, to := monday0(), monday0().Add(4*24*time.Hour)
			fleet, single := newTestFleet(&policy, from, "a", "b", "c"), ruled(&policy, from)
			chance := rand.New(rand.NewPCG(8, 9))
			tell := &spread{chance: chance, fleet: fleet, single: single}
			var trials []*trial
			for i, gap := range row.gaps {
				trials = append(trials, &trial{policy: policy, rate: 1 / gap.Seconds(), key: mix(uint64(i) + 1), tell: tell, everything: true, changes: row.source(chance, from, to)})
			}
			side(chance, trials, from, to)
			fresh := newTestFleet(&policy, to.Add(-time.Second), "d")[0]
			fresh.Shelf = fleet[0].Shelf
			rounds(t, to, append(fleet, fresh)...)
			want := ask(single, &policy, to)
			for _, f := range append(fleet, fresh) {
				got := ask(f.Advisor, &policy, to)
				t.Logf("%s: %+v %+v", f.Self, got.Change, got.Measured)
				if math.Abs(got.Keys-want.Keys) > 1 {
					t.Errorf("%s: %g keys, one alone %g", f.Self, got.Keys, want.Keys)
				}
				if got.Change.Kind != want.Change.Kind || off(got.Change.Interval, want.Change.Interval) > 0.02 || got.Change.Changes != want.Change.Changes || got.Verdict != want.Verdict {
					t.Errorf("%s: %+v, one alone %+v", f.Self, got.Change, want.Change)
				}
				for what, pair := range map[string][2]float64{
					"requests": {got.RequestsPerSecond, want.RequestsPerSecond}, "calls": {got.Present.CallsPerHour, want.Present.CallsPerHour},
					"measured requests": {got.Measured.Requests, want.Measured.Requests}, "measured calls": {got.Measured.CallsPerHour, want.Measured.CallsPerHour},
					"hit ratio": {got.Measured.HitRatio, want.Measured.HitRatio}, "old share": {got.Measured.OldShare, want.Measured.OldShare},
				} {
					if math.Abs(pair[0]-pair[1]) > 0.02*pair[1] {
						t.Errorf("%s: %s %.5g, one alone %.5g", f.Self, what, pair[0], pair[1])
					}
				}
			}
		})
	}
}

// TestInstancesComeAndGo: what one that leaves knows is taken over by one of the others, as
// is that of one that died, after a while; nothing counts twice.
func TestInstancesComeAndGo(t *testing.T) {
	policy, at := usual(10*time.Minute, 0), monday0()
	fleet := newTestFleet(&policy, at, "a", "b", "c")
	refresh := func(f *Fleet, key uint64, changed bool) {
		f.Advisor.Filled(cache.Filled{Space: "s", Key: key, Source: "x", BeforeSource: "x", Before: at, At: at.Add(time.Hour), Changed: changed})
		f.Advisor.Called("s")
	}
	for i, f := range fleet {
		refresh(f, uint64(i)+1, i == 0)
	}
	at = at.Add(time.Hour)
	rounds(t, at, fleet...)
	known := func(f *Fleet, when string) {
		t.Helper()
		if got := ask(f.Advisor, &policy, at); got.Change.Refreshes != 3 || got.Change.Changes != 1 || math.Abs(got.Measured.CallsPerHour*at.Sub(got.Measured.Since).Hours()-3) > 0.8 {
			t.Errorf("%s, %s knows of %+v, %+v", when, f.Self, got.Change, got.Measured)
		}
	}
	for _, f := range fleet {
		known(f, "at first")
	}
	if err := fleet[0].Round(t.Context(), at, true); err != nil {
		t.Fatal(err)
	}
	rounds(t, at, fleet[1:]...)
	known(fleet[1], "without a")
	known(fleet[2], "without a")
	at = at.Add(abandoned - time.Minute)
	rounds(t, at, fleet[1])
	known(fleet[1], "while c is silent")
	at = at.Add(time.Minute)
	rounds(t, at, fleet[1])
	known(fleet[1], "without c")
	if names, _ := fleet[1].Shelf.Names(t.Context()); !slices.Equal(names, []string{"b"}) {
		t.Errorf("%v are there", names)
	}
	if err := fleet[1].Round(t.Context(), at, true); err != nil {
		t.Fatal(err)
	}
	at = at.Add(10 * time.Minute)
	next := newTestFleet(&policy, at, "d")[0]
	next.Shelf = fleet[1].Shelf
	rounds(t, at, next)
	known(next, "after all have left")
}

// TestAnInstanceThatComesBackWhileItIsTakenOver is alive after all: what it knows counts once.
func TestAnInstanceThatComesBackWhileItIsTakenOver(t *testing.T) {
	policy, at := usual(10*time.Minute, 0), monday0()
	fleet := newTestFleet(&policy, at, "a", "b")
	a, b := fleet[0], fleet[1]
	b.Advisor.Filled(cache.Filled{Space: "s", Key: 1, Source: "x", BeforeSource: "x", Before: at, At: at.Add(time.Hour), Changed: true})
	for range 10 {
		b.Advisor.Called("s")
	}
	at = at.Add(time.Hour)
	rounds(t, at, a, b)
	at = at.Add(abandoned)
	on := a.Shelf.(*shelf)
	on.beforeTake = func() {
		on.beforeTake = nil
		rounds(t, at, b)
	}
	if err := a.Round(t.Context(), at, false); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "later"} {
		got := ask(a.Advisor, &policy, at)
		if calls := got.Measured.CallsPerHour * at.Sub(got.Measured.Since).Hours(); got.Change.Refreshes != 1 || math.Abs(calls-10) > 1 {
			t.Errorf("%s: %v calls, %+v", when, calls, got.Change)
		}
		rounds(t, at, b, a)
	}
}

// TestWhatNobodyCanRead is left to those who may, and removed when it is old; without the
// shelf everybody goes on with what they know.
func TestWhatNobodyCanRead(t *testing.T) {
	policy, at := usual(time.Hour, 0), monday0()
	f := newTestFleet(&policy, at, "a")[0]
	on := f.Shelf.(*shelf)
	on.values["other"], on.values["short"] = wrap([]byte("SADV\x09 of another version"), at, false), []byte("x")
	rounds(t, at.Add(unreadable-time.Minute), f)
	if on.values["other"] == nil || on.values["short"] != nil {
		t.Errorf("%v", on.values)
	}
	rounds(t, at.Add(unreadable), f)
	if on.values["other"] != nil {
		t.Error("it is still there")
	}
	on.broken = true
	if err := f.Round(t.Context(), at, false); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// TestRefreshesThatOverlap count once: instances that did not know of each other's refreshes.
func TestRefreshesThatOverlap(t *testing.T) {
	o := func(from, to int64, changed bool) observation {
		return observation{from: from, to: to, key: 1, looks: 1, changed: changed}
	}
	for name, row := range map[string]struct{ one, two, want []observation }{
		"one after the other": {[]observation{o(0, 10, true)}, []observation{o(10, 20, true)}, []observation{o(0, 10, true), o(10, 20, true)}},
		"without a change":    {[]observation{o(0, 10, false)}, []observation{o(10, 20, false)}, []observation{{to: 20, key: 1, looks: 2}}},
		"the same twice":      {[]observation{o(0, 10, true)}, []observation{o(0, 10, true)}, []observation{o(0, 10, true)}},
		"both changed":        {[]observation{o(0, 10, true)}, []observation{o(0, 15, true), o(15, 20, false)}, []observation{o(0, 10, true), o(15, 20, false)}},
		"changed later":       {[]observation{o(0, 10, false)}, []observation{o(0, 15, true)}, []observation{o(0, 10, false), o(10, 15, true)}},
		"changed before":      {[]observation{o(0, 10, true)}, []observation{o(5, 15, false)}, []observation{o(0, 10, true), o(10, 15, false)}},
	} {
		got := joined(&history{list: row.one, sources: []string{"x"}}, &history{list: row.two, sources: []string{"x"}}).list
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %+v, want %+v", name, got, row.want)
		}
	}
}
