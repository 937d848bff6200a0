package advisor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"sundry/cache"
)

// seeds is how many trials each row has.
const seeds = 20

// off is by how much a duration is off, as a share.
func off(got, want time.Duration) float64 { return math.Abs(float64(got-want)) / float64(want) }

// TestNamesIntervalKindAndHour: of sources that change every half hour, daily and at
// random, each seen through several TTLs, by many and by few requests; within 20 % after
// a day, within 10 % after a week. What is allowed to fail is stated: a content that
// changes at random has changed 48 times on an average day, but on a day more or less, so
// for it the interval is compared with what really happened.
func TestNamesIntervalKindAndHour(t *testing.T) {
	const day = 24 * time.Hour
	for _, row := range []struct {
		name    string
		source  source
		kind    Kind
		mean    time.Duration
		phase   time.Duration
		ttls    []time.Duration
		allowed [2]float64 // share of the trials that may fail, after a day and a week
	}{
		{"half-hourly", every(30*time.Minute, 0), Periodic, 30 * time.Minute, 0, []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}, [2]float64{0.05, 0}},
		{"half-hourly, late", late(every(30*time.Minute, 0), 2*time.Minute), Periodic, 30 * time.Minute, time.Minute, []time.Duration{5 * time.Minute}, [2]float64{0.05, 0}},
		{"random", atRandom(30 * time.Minute), Random, 30 * time.Minute, 0, []time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute}, [2]float64{0.10, 0.05}},
		{"daily", every(day, 6*time.Hour), Periodic, day, 6 * time.Hour, []time.Duration{5 * time.Minute, 30 * time.Minute, time.Hour}, [2]float64{0.10, 0}},
		{"daily, late", late(every(day, 6*time.Hour), 10*time.Minute), Periodic, day, 6 * time.Hour, []time.Duration{5 * time.Minute, time.Hour}, [2]float64{0.35, 0.02}},
	} {
		for _, ttl := range row.ttls {
			for _, perHour := range []float64{12, 3600} {
				t.Run(fmt.Sprintf("%s/%s/%g an hour", row.name, ttl, perHour), func(t *testing.T) {
					t.Parallel()
					for i, length := range []time.Duration{day, 7 * day} {
						failed, kinds := 0, map[Kind]int{}
						for seed := range uint64(seeds) {
							chance := rand.New(rand.NewPCG(seed, 7))
							from := monday0().Add(time.Duration(chance.Float64() * float64(day)))
							tr := trial{policy: usual(ttl, 10*time.Minute), rate: perHour / 3600, tell: New(Config{})}
							tr.changes = row.source(chance, from, from.Add(length))
							tr.skip(chance, from, from.Add(length))
							got := tr.tell.(*Advisor).Advise(&Question{Space: "s", Policy: &tr.policy, Now: from.Add(length)}).Change
							want := row.mean
							if row.kind == Random {
								want = length / time.Duration(max(1, len(tr.changes)))
							}
							kinds[got.Kind]++
							if got.Kind != row.kind || off(got.Interval, want) > []float64{0.2, 0.1}[i] || row.kind == Periodic && !inPhase(&got, row.phase-8*time.Hour) {
								failed++
							}
						}
						t.Logf("after %s: %d of %d fail; kinds %v", length, failed, seeds, kinds)
						if float64(failed) > row.allowed[i]*seeds {
							t.Errorf("after %s: %d of %d fail: %v", length, failed, seeds, kinds)
						}
					}
				})
			}
		}
	}
}

// TestWeekly: after four weeks its period and hour are known, of a publication that may come
// a quarter of an hour late.
func TestWeekly(t *testing.T) {
	failed := 0
	for seed := range uint64(seeds) {
		chance := rand.New(rand.NewPCG(seed, 13))
		from := monday0().Add(time.Duration(chance.Float64() * float64(24*time.Hour)))
		to := from.AddDate(0, 0, 28)
		tr := trial{policy: usual(time.Hour, 0), rate: 0.01, tell: New(Config{Zone: shanghai()})}
		tr.changes = late(every(7*24*time.Hour, 34*time.Hour), 15*time.Minute)(chance, from, to)
		tr.skip(chance, from, to)
		c := tr.tell.(*Advisor).Advise(&Question{Space: "s", Policy: &tr.policy, Now: to}).Change
		if c.Kind != Periodic || c.Probable || c.Interval != 7*24*time.Hour || c.Phase < 33*time.Hour || c.Phase > 35*time.Hour {
			failed++
			t.Logf("%+v", c)
		}
	}
	if failed > 1 {
		t.Errorf("%d of %d fail", failed, seeds)
	}
}

// TestAt: the names of phases.
func TestAt(t *testing.T) {
	const day = 24 * time.Hour
	for want, c := range map[string]Change{
		"06:00": {Kind: Periodic, Interval: day, Phase: 6 * time.Hour}, "Monday 00:05": {Kind: Periodic, Interval: 7 * day, Phase: 5 * time.Minute},
		"Sunday 23:00": {Kind: Periodic, Interval: 7 * day, Phase: 7*day - time.Hour}, "minute 30": {Kind: Periodic, Interval: time.Hour, Phase: 30 * time.Minute},
		"": {Kind: Random, Interval: day, Phase: time.Hour},
	} {
		if got := c.At(); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// BenchmarkEstimate is of as many observations as are kept.
func BenchmarkEstimate(b *testing.B) {
	for name, s := range map[string]source{"periodic": every(30*time.Minute, 0), "random": atRandom(30 * time.Minute), "rare": atRandom(8 * time.Hour)} {
		a, chance := New(Config{Zone: shanghai()}), rand.New(rand.NewPCG(1, 1))
		tr := trial{policy: usual(5*time.Minute, 0), rate: 1, key: 1, tell: a, changes: s(chance, monday0(), monday0().AddDate(0, 0, 21))}
		tr.skip(chance, monday0(), monday0().AddDate(0, 0, 21))
		list := a.spaces["s"].history.list
		b.Run(fmt.Sprintf("%s/%d", name, len(list)), func(b *testing.B) {
			for b.Loop() {
				_ = changeOf(list, shanghai())
			}
		})
	}
}

// inPhase: within a tenth of the period, in UTC.
func inPhase(c *Change, want time.Duration) bool {
	apart := math.Mod(float64(c.Phase-want), float64(c.Interval))
	if apart < 0 {
		apart += float64(c.Interval)
	}
	return min(apart, float64(c.Interval)-apart) <= float64(c.Interval)/10
}

// TestRandomRateAgainstTheTruth: an estimate cannot be better than what happened: of a
// Poisson process with 48 changes a day, the sixth part of all days are off by more than
// 20 %, and of weeks, every fifteenth by more than 10 %; seen through a TTL of a third of the
// interval, which shows the fifth part less, every fifth and every twelfth. It is hardly worse
// than that, and its bounds hold what they promise.
func TestRandomRateAgainstTheTruth(t *testing.T) {
	const trials, mean = 300, 30 * time.Minute
	for _, row := range []struct {
		length time.Duration
		within float64
		most   float64 // share that may be off by more
	}{{24 * time.Hour, 0.2, 0.27}, {7 * 24 * time.Hour, 0.1, 0.12}} {
		missed, outside := 0, 0
		for seed := range uint64(trials) {
			chance := rand.New(rand.NewPCG(seed, 11))
			tr := trial{policy: usual(10*time.Minute, time.Minute), rate: 0.01, tell: New(Config{})}
			tr.changes = atRandom(mean)(chance, monday0(), monday0().Add(row.length))
			tr.skip(chance, monday0(), monday0().Add(row.length))
			h := &tr.tell.(*Advisor).spaces["s"].history
			l := looksOf(h.list, nil)
			low, high := l.bounds()
			if off(intervalOf(l.rate()), mean) > row.within {
				missed++
			}
			if truth := 1 / mean.Seconds(); truth < low || truth > high {
				outside++
			}
		}
		t.Logf("%s: %.3f are off by more than %g, of %.3f the bounds are wrong", row.length, float64(missed)/trials, row.within, float64(outside)/trials)
		if float64(missed) > row.most*trials || float64(outside) > 0.09*trials {
			t.Errorf("%s: %d of %d are off by more than %g, of %d the bounds are wrong", row.length, missed, trials, row.within, outside)
		}
	}
}

// TestRateAtRegularAccess is the estimator of the paper, in its closed form.
func TestRateAtRegularAccess(t *testing.T) {
	for _, row := range []struct{ n, changed int }{{10, 1}, {10, 5}, {10, 9}, {10, 10}, {100, 3}, {1, 1}} {
		l := looks{n: row.n, total: float64(row.n) * 60, unchanged: float64(row.n-row.changed) * 60}
		for range row.changed {
			l.changed = append(l.changed, 60)
		}
		n, x := float64(row.n), float64(row.changed)
		want := -math.Log((n-x+0.5)/(n+0.5)) / 60
		if got := l.rate(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%d of %d: %g, want %g", row.changed, row.n, got, want)
		}
	}
}

// TestKindsOfLittle: what cannot be known is not said.
func TestKindsOfLittle(t *testing.T) {
	look := func(times int, changed bool) []observation {
		var list []observation
		for i := range times {
			from := monday0().Add(time.Duration(i) * 47 * time.Minute).UnixMilli()
			list = append(list, observation{from: from, to: from + (47 * time.Minute).Milliseconds(), looks: 1, changed: changed})
		}
		return list
	}
	for name, row := range map[string]struct {
		list []observation
		want Kind
	}{
		"nothing": {nil, Unknown}, "two unchanged": {look(2, false), Unknown}, "one changed": {look(1, true), Unknown},
		"many unchanged": {look(50, false), Unchanged}, "all changed": {look(50, true), Always},
	} {
		c := changeOf(row.list, time.UTC)
		if c.Kind != row.want || c.Interval != 0 {
			t.Errorf("%s: %+v", name, c)
		}
		if row.want == Always && (c.High < 5*time.Minute || c.High > 50*time.Minute || c.Low != 0) || row.want == Unchanged && (c.Low < 8*time.Hour || c.High != 0) {
			t.Errorf("%s: bounds %v to %v", name, c.Low, c.High)
		}
	}
}

// TestManyKeysAtOnceAreNoPeriod: that all keys change once, at the same time, is no
// publication at a period.
func TestManyKeysAtOnceAreNoPeriod(t *testing.T) {
	a, chance := New(Config{}), rand.New(rand.NewPCG(1, 1))
	from, to := monday0(), monday0().Add(3*24*time.Hour)
	for key := range uint64(50) {
		tr := trial{policy: usual(time.Hour, 0), rate: 0.01, key: key + 1, tell: a, changes: []time.Time{from.Add(30 * time.Hour)}}
		tr.skip(chance, from, to)
	}
	policy := usual(time.Hour, 0)
	if c := a.Advise(&Question{Space: "s", Policy: &policy, Now: to}).Change; c.Kind == Periodic && !c.Probable {
		t.Errorf("%+v", c)
	}
}

// TestSourcesThatDifferAreToldApart, and others are not.
func TestSourcesThatDifferAreToldApart(t *testing.T) {
	for _, row := range []struct {
		second time.Duration
		differ bool
	}{{30 * time.Minute, false}, {6 * time.Hour, true}} {
		a := New(Config{})
		from, to := monday0(), monday0().Add(14*24*time.Hour)
		for name, mean := range map[string]time.Duration{"one": 30 * time.Minute, "two": row.second} {
			chance := rand.New(rand.NewPCG(3, uint64(name[0])))
			tr := trial{policy: usual(10*time.Minute, 0), rate: 0.1, key: uint64(name[0]), tell: renamed{a, name}}
			tr.changes = atRandom(mean)(chance, from, to)
			tr.skip(chance, from, to)
		}
		policy := usual(10*time.Minute, 0)
		got := a.Advise(&Question{Space: "s", Policy: &policy, Now: to}).Sources
		if (got != nil) != row.differ {
			t.Errorf("%v: %+v", row.second, got)
		}
		for _, s := range got {
			if want := map[string]time.Duration{"one": 30 * time.Minute, "two": row.second}[s.Source]; off(s.Change.Interval, want) > 0.3 {
				t.Errorf("%s: %v, want %v", s.Source, s.Change.Interval, want)
			}
		}
	}
}

// renamed tells of fills by another source.
type renamed struct {
	told
	name string
}

func (r renamed) Filled(f cache.Filled) {
	f.Source = r.name
	if f.BeforeSource != "" {
		f.BeforeSource = r.name
	}
	r.told.Filled(f)
}

// TestKeysInStepAreNoPeriod: many keys, refreshed at the same times, whose contents change at
// random, each for itself or all as one: many times the changes are not many times the
// evidence for a period.
func TestKeysInStepAreNoPeriod(t *testing.T) {
	for _, asOne := range []bool{false, true} {
		for _, mean := range []time.Duration{8 * time.Hour, 20 * time.Hour} {
			for _, ttl := range []time.Duration{time.Hour, 6 * time.Hour} {
				periods := 0
				for seed := range uint64(10) {
					if c := inStep(rand.New(rand.NewPCG(seed, 7)), mean, ttl, asOne); c.Kind == Periodic {
						t.Logf("as one %v, mean %v, TTL %v, seed %d: %+v", asOne, mean, ttl, seed, c)
						periods++
					}
				}
				if periods > 0 {
					t.Errorf("as one %v, mean %v, TTL %v: %d of 10 are called periodic", asOne, mean, ttl, periods)
				}
			}
		}
	}
}

// inStep is what a week of refreshes of twenty keys in step shows.
func inStep(chance *rand.Rand, mean, ttl time.Duration, asOne bool) Change {
	from := monday0()
	to := from.Add(7 * 24 * time.Hour)
	contents := make([][]time.Time, 20)
	for key := range contents {
		if contents[key] = contents[0]; key == 0 || !asOne {
			contents[key] = atRandom(mean)(chance, from, to)
		}
	}
	var h history
	for at := from; at.Before(to); {
		next := at.Add(ttl + time.Duration(chance.Int64N(int64(ttl/10))))
		for key, changes := range contents {
			changed := slices.ContainsFunc(changes, func(c time.Time) bool { return c.After(at) && !c.After(next) })
			h.add(&cache.Filled{Key: uint64(key) + 1, Source: "one", BeforeSource: "one", Before: at, At: next, Changed: changed})
		}
		at = next
	}
	return changeOf(h.list, shanghai())
}
