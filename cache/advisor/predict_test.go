package advisor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
)

// TestPredictionsAgainstTheRealPolicy, request by request: calls, hits and old answers
// are within 5 %, or within 0.005 where they are small shares.
func TestPredictionsAgainstTheRealPolicy(t *testing.T) {
	daily := func(ttl, grace, poll time.Duration) cache.Policy {
		p := usual(ttl, grace)
		p.Until, _ = cache.ParseCalendar("06:00 Asia/Shanghai")
		p.Poll = poll
		return p
	}
	plain := cache.Policy{TTL: 5 * time.Minute}
	for _, row := range []struct {
		name   string
		policy cache.Policy
		gaps   []time.Duration // mean time between requests, of each key
		period time.Duration   // 0: at random
		mean   time.Duration
	}{
		{"no grace", plain, []time.Duration{time.Minute}, 0, 30 * time.Minute},
		{"usual", usual(5*time.Minute, 10*time.Minute), []time.Duration{20 * time.Second}, 0, 30 * time.Minute},
		{"few requests", usual(5*time.Minute, time.Minute), []time.Duration{10 * time.Minute}, 0, 30 * time.Minute},
		{"ttl beyond the interval", usual(time.Hour, 0), []time.Duration{time.Minute}, 0, 30 * time.Minute},
		{"periodic", usual(10*time.Minute, 10*time.Minute), []time.Duration{time.Minute}, 30 * time.Minute, 0},
		{"periodic, ttl beyond", usual(50*time.Minute, 0), []time.Duration{time.Minute}, 30 * time.Minute, 0},
		{"keys of all kinds", usual(15*time.Minute, 5*time.Minute), []time.Duration{20 * time.Second, 3 * time.Minute, time.Hour, time.Hour, 8 * time.Hour}, 0, time.Hour},
		{"daily by ttl", usual(2*time.Hour, time.Hour), []time.Duration{5 * time.Minute}, 24 * time.Hour, 0},
		{"several times of day", usual(2*time.Hour, time.Hour), []time.Duration{5 * time.Minute}, 0, 0},
		{"several times of day, by ttl beyond", usual(6*time.Hour, time.Hour), []time.Duration{5 * time.Minute}, 0, 0},
		{"daily by timetable", daily(24*time.Hour, time.Hour, 5*time.Minute), []time.Duration{5 * time.Minute}, 24 * time.Hour, 0},
		{"daily by both", daily(2*time.Hour, time.Hour, 5*time.Minute), []time.Duration{5 * time.Minute}, 24 * time.Hour, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p := Prediction{Period: row.period, Phase: 6 * time.Hour % max(row.period, 1), Zone: shanghai()}
			changes := atRandom(row.mean)
			switch {
			case row.mean == 0 && row.period == 0:
				p.Period, p.Times = 8*time.Hour, timesOf([]time.Duration{7 * time.Hour, 11*time.Hour + 30*time.Minute, 21 * time.Hour})
				changes = atTimes(p.Times.All()...)
			case row.mean > 0:
				p.ChangeRate = 1 / row.mean.Seconds()
			default:
				changes = every(p.Period, p.Phase)
			}
			var sum trial
			const length = 60 * 24 * time.Hour
			for i, gap := range row.gaps {
				p.Loads = append(p.Loads, Load{1, 1 / gap.Seconds()})
				for seed := range uint64(3) {
					chance := rand.New(rand.NewPCG(seed, uint64(i)))
					tr := trial{policy: row.policy, rate: 1 / gap.Seconds(), changes: changes(chance, monday0(), monday0().Add(length))}
					tr.run(chance, monday0(), monday0().Add(length))
					sum.requests, sum.calls, sum.waits, sum.old = sum.requests+tr.requests/3, sum.calls+tr.calls/3, sum.waits+tr.waits/3, sum.old+tr.old/3
				}
			}
			got := p.Of(&row.policy)
			near(t, "calls an hour", got.CallsPerHour, sum.calls/length.Hours())
			near(t, "misses", 1-got.HitRatio, sum.waits/sum.requests)
			near(t, "old answers", got.OldShare, sum.old/sum.requests)
		})
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	t.Logf("%s: %.5f, brute force %.5f", what, got, want)
	if math.Abs(got-want) > max(0.05*want, 0.001) {
		t.Errorf("%s: %.5f, want %.5f", what, got, want)
	}
}

// TestRecommendations: what operators are told, by what is known.
func TestRecommendations(t *testing.T) {
	loads := []Load{{1, 1}}
	zone := shanghai()
	hour := 3600.0
	for _, row := range []struct {
		name        string
		change      Change
		loads       []Load
		policy      cache.Policy
		quota       float64
		want        Verdict
		least, most time.Duration // of the recommended TTL
		until       string
	}{
		{"too often", Change{Kind: Random, Interval: 24 * time.Hour}, loads, usual(time.Minute, 0), 0, Set, time.Hour, 8 * time.Hour, ""},
		{"too seldom", Change{Kind: Random, Interval: 30 * time.Minute}, loads, usual(6*time.Hour, 0), 0, Set, time.Minute, 15 * time.Minute, ""},
		{"just right", Change{Kind: Random, Interval: 30 * time.Minute}, loads, usual(4*time.Minute, 0), 0, Keep, 4 * time.Minute, 4 * time.Minute, ""},
		{"hardly any requests", Change{Kind: Random, Interval: 30 * time.Minute}, []Load{{1, 0.5 / hour}}, usual(4*time.Minute, 0), 0, Keep, 4 * time.Minute, 4 * time.Minute, ""},
		{"over quota", Change{Kind: Random, Interval: 30 * time.Minute}, loads, usual(4*time.Minute, 0), 4, Set, 15 * time.Minute, time.Hour, ""},
		{"nothing known", Change{Kind: Unknown}, loads, usual(time.Hour, 0), 0, Wait, time.Hour, time.Hour, ""},
		{"always another", Change{Kind: Always}, loads, usual(time.Hour, 0), 0, Wait, time.Hour, time.Hour, ""},
		{"never another", Change{Kind: Unchanged, Low: 10 * 24 * time.Hour}, loads, usual(time.Minute, 0), 0, Set, 4 * time.Hour, 4 * 24 * time.Hour, ""},
		{"daily", Change{Kind: Periodic, Interval: 24 * time.Hour, Phase: 6 * time.Hour}, loads, usual(time.Hour, time.Hour), 0, Schedule, 24 * time.Hour, 24 * time.Hour, "06:00 Asia/Shanghai"},
		{"perhaps daily", Change{Kind: Periodic, Probable: true, Interval: 24 * time.Hour, Phase: 6 * time.Hour}, loads, usual(time.Minute, time.Hour), 0, Set, time.Hour, 8 * time.Hour, ""},
	} {
		a := Advice{Change: row.change, Prediction: Prediction{Loads: row.loads, Zone: zone, Quota: row.quota}}
		a.RequestsPerSecond = sumOf(row.loads)
		a.Prediction.ChangeRate, _ = row.change.rate()
		if row.change.Kind == Periodic {
			a.Prediction.Period, a.Prediction.Phase = row.change.Interval, row.change.Phase
		}
		a.decide(&row.policy)
		if a.Verdict != row.want || a.Recommended.TTL < row.least || a.Recommended.TTL > row.most || a.Until != row.until {
			t.Errorf("%s: %s, TTL %v, until %q; %+v %+v", row.name, a.Verdict, a.Recommended.TTL, a.Until, a.Present, a.Recommended)
		}
		t.Logf("%s: %s %s", row.name, a.Reason.EN, a.Reason.ZH)
		if a.Reason.EN == "" || a.Reason.ZH == "" {
			t.Errorf("%s: no reason", row.name)
		}
	}
}

// TestChangesForSimulations: the model by what is known.
func TestChangesForSimulations(t *testing.T) {
	const day = 24 * time.Hour
	for want, c := range map[string]Change{
		"unknown":                          {Kind: Unknown},
		"at random, every 30m in the mean": {Kind: Random, Interval: 30 * time.Minute},
		"at random, every 10h in the mean": {Kind: Unchanged, Low: 10 * time.Hour},
		"at its publications":              {Kind: Periodic, Interval: day, Phase: 6 * time.Hour},
		"every 1h":                         {Kind: Periodic, Interval: time.Hour, Phase: 5 * time.Minute},
	} {
		a := Advice{Change: c, Prediction: Prediction{Zone: shanghai()}}
		if got := a.Changes(); got.String() != want {
			t.Errorf("%+v: %s, want %s", c, got.String(), want)
		}
	}
}
