package advisor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
)

// atTimes is a source that changes at several times of day.
func atTimes(all ...time.Duration) source {
	return func(_ *rand.Rand, from, to time.Time) (at []time.Time) {
		p := Prediction{Period: 1, Times: timesOf(all), Zone: shanghai()}
		for next := p.publication(from); next.Before(to); next = p.publication(next) {
			at = append(at, next)
		}
		return at
	}
}

// tried is what is said of a source after a time, of a key in Shanghai.
func tried(s source, ttl time.Duration, perHour float64, length time.Duration, seed uint64) Change {
	chance := rand.New(rand.NewPCG(seed, 21))
	from := monday0().Add(time.Duration(chance.Float64() * float64(dayLength)))
	to := from.Add(length)
	tr := trial{policy: usual(ttl, 10*time.Minute), rate: perHour / 3600, tell: New(Config{Zone: shanghai()})}
	tr.changes = s(chance, from, to)
	tr.skip(chance, from, to)
	return tr.tell.(*Advisor).Advise(&Question{Space: "s", Policy: &tr.policy, Now: to}).Change
}

// TestSeveralTimesOfDay: after a week, all of them are named, to a quarter of an hour or half of
// the TTL, of publications that may come a little late.
func TestSeveralTimesOfDay(t *testing.T) {
	const h, m = time.Hour, time.Minute
	for _, row := range []struct {
		name  string
		times []time.Duration
		late  time.Duration
	}{
		{"three", []time.Duration{7 * h, 11*h + 30*m, 21 * h}, 0}, {"three, late", []time.Duration{7 * h, 11*h + 30*m, 21 * h}, 10 * m},
		{"two", []time.Duration{6 * h, 15*h + 30*m}, 0}, {"four", []time.Duration{6 * h, 9 * h, 12 * h, 20 * h}, 0}, {"every eight hours", []time.Duration{2 * h, 10 * h, 18 * h}, 0},
	} {
		for _, ttl := range []time.Duration{10 * time.Minute, time.Hour} {
			for _, perHour := range []float64{12, 3600} {
				t.Run(fmt.Sprintf("%s/%s/%g an hour", row.name, ttl, perHour), func(t *testing.T) {
					t.Parallel()
					failed := 0
					for seed := range uint64(seeds / 2) {
						c := tried(late(atTimes(row.times...), row.late), ttl, perHour, 7*dayLength, seed)
						if c.Kind != Periodic || c.Probable || !allNear(c.daily(), row.times, max(15*time.Minute, ttl/2)) {
							failed++
							t.Logf("%s %v %s, %d of %d", c.Kind, c.Probable, c.At(), c.Changes, c.Refreshes)
						}
					}
					if failed > 1 {
						t.Errorf("%d of %d fail", failed, seeds/2)
					}
				})
			}
		}
	}
}

// allNear: the same number of times, each within so much of what it is.
func allNear(got Times, want []time.Duration, within time.Duration) bool {
	if got.n != len(want) {
		return false
	}
	for i, at := range got.All() {
		if math.Abs(float64(at-want[i])) > float64(within) {
			return false
		}
	}
	return true
}

// TestChangesAtRandomAreNoTimetable: of contents that change at random about as often as such
// a publication, after days and weeks; a period is named for one of a hundred at most.
func TestChangesAtRandomAreNoTimetable(t *testing.T) {
	named, trials := 0, 0
	for _, mean := range []time.Duration{4 * time.Hour, 8 * time.Hour, 12 * time.Hour} {
		for _, ttl := range []time.Duration{10 * time.Minute, time.Hour} {
			for _, days := range []time.Duration{3, 7, 21} {
				for seed := range uint64(seeds) {
					trials++
					if c := tried(atRandom(mean), ttl, 60, days*dayLength, seed); c.Kind == Periodic {
						named++
						t.Logf("mean %v, ttl %v, %d days: %s, probable %v, %d of %d", mean, ttl, days, c.At(), c.Probable, c.Changes, c.Refreshes)
					}
				}
			}
		}
	}
	t.Logf("%d of %d", named, trials)
	if named > trials/100 {
		t.Errorf("%d of %d are called periodic", named, trials)
	}
}

// TestATimetableOfSeveralTimesIsAdvised, unless it is declared, and predicted as it comes
// out.
func TestATimetableOfSeveralTimesIsAdvised(t *testing.T) {
	times := timesOf([]time.Duration{21 * time.Hour, 7 * time.Hour, 11*time.Hour + 30*time.Minute})
	change := Change{Kind: Periodic, Interval: 8 * time.Hour, Phase: 7 * time.Hour, Times: times, Zone: "Asia/Shanghai"}
	for declared, want := range map[string]Verdict{
		"": Schedule, "07:00 11:30 21:00 Asia/Shanghai": Keep, "07:00 Asia/Shanghai": Schedule,
	} {
		policy := usual(time.Hour, time.Hour)
		if declared != "" {
			policy.Until, _ = cache.ParseCalendar(declared)
			policy.TTL = dayLength
		}
		a := Advice{Change: change, RequestsPerSecond: 1, Prediction: Prediction{Loads: []Load{{1, 1}}, Zone: shanghai(), Period: change.Interval, Phase: change.Phase, Times: times}}
		a.Prediction.ChangeRate, _ = change.rate()
		a.decide(&policy)
		if a.Verdict != want || want == Schedule && a.Until != "07:00 11:30 21:00 Asia/Shanghai" || change.At() != "07:00 11:30 21:00" {
			t.Errorf("%q: %s %q", declared, a.Verdict, a.Until)
		}
		t.Log(a.Reason)
		changes := a.Changes()
		if changes.String() != "at its publications" {
			t.Error(changes.String())
		}
	}
}
