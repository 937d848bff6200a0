package advisor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
)

// TestMeasuredIsWhatHappened: calls, hits and old answers under the rule in force, beside
// what was predicted of it, of keys with many and with few requests.
func TestMeasuredIsWhatHappened(t *testing.T) {
	for _, row := range []struct {
		name   string
		policy cache.Policy
		gaps   []time.Duration
		source source
	}{
		{"at random", usual(15*time.Minute, 10*time.Minute), []time.Duration{20 * time.Second}, atRandom(30 * time.Minute)},
		{"often", usual(time.Hour, 0), []time.Duration{20 * time.Second}, atRandom(30 * time.Minute)},
		{"periodic", usual(10*time.Minute, time.Minute), []time.Duration{time.Minute}, every(30*time.Minute, 0)},
		{"few requests", usual(15*time.Minute, time.Hour), []time.Duration{10 * time.Minute}, atRandom(30 * time.Minute)},
		{"keys of all kinds", usual(15*time.Minute, 5*time.Minute), []time.Duration{20 * time.Second, 3 * time.Minute, time.Hour, time.Hour, 4 * time.Hour}, atRandom(time.Hour)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a, old := New(Config{}), usual(2*time.Minute, 0)
			from := monday0()
			change, to := from.Add(4*24*time.Hour), from.Add(11*24*time.Hour)
			a.InForce([]Question{{Space: "s", Policy: &old, Now: from}})
			if m := ask(a, &old, from.Add(time.Hour)); m.Measured == nil || m.Measured.Requests != 0 || m.Before != nil || m.Predicted != nil {
				t.Errorf("%+v", m)
			}
			trials := make([]*trial, len(row.gaps))
			chance := rand.New(rand.NewPCG(3, 4))
			for i, gap := range row.gaps {
				trials[i] = &trial{policy: old, rate: 1 / gap.Seconds(), key: mix(uint64(i) + 1), tell: a, everything: true, changes: row.source(chance, from, to)}
			}
			side(chance, trials, from, change)
			a.InForce([]Question{{Space: "s", Policy: &row.policy, Now: change}})
			var sum trial
			for _, tr := range trials {
				tr.policy, tr.requests, tr.calls, tr.waits, tr.old = row.policy, 0, 0, 0, 0
			}
			side(chance, trials, change, to)
			for _, tr := range trials {
				sum.requests, sum.calls, sum.waits, sum.old = sum.requests+tr.requests, sum.calls+tr.calls, sum.waits+tr.waits, sum.old+tr.old
			}
			got := ask(a, &row.policy, to)
			m, hours := got.Measured, to.Sub(change).Hours()
			if !m.Since.Equal(change) || m.TTL != row.policy.TTL || m.Requests != sum.requests || !m.OldKnown || math.Abs(m.CallsPerHour-sum.calls/hours) > 1e-9 {
				t.Errorf("%+v of %+v", m, sum)
			}
			if want := 1 - sum.waits/sum.requests; math.Abs(m.HitRatio-want) > 1e-9 {
				t.Errorf("hit ratio %g, want %g", m.HitRatio, want)
			}
			t.Logf("old %.4f, was %.4f, predicted %.4f", m.OldShare, sum.old/sum.requests, got.Predicted.OldShare)
			if want := sum.old / sum.requests; math.Abs(m.OldShare-want) > 0.15*want {
				t.Errorf("%.4f of the answers are taken for old, were %.4f", m.OldShare, want)
			}
			if got.Before == nil || got.Before.TTL != old.TTL || !got.Before.Since.Equal(from) || got.Before.Requests == 0 {
				t.Errorf("before: %+v", got.Before)
			}
			if p := got.Predicted; p == nil || math.Abs(p.CallsPerHour-m.CallsPerHour) > 0.15*m.CallsPerHour {
				t.Errorf("predicted %+v, measured %+v", p, m)
			}
		})
	}
}

// side runs trials of several keys side by side.
func side(chance *rand.Rand, trials []*trial, from, to time.Time) {
	for at := from; at.Before(to); at = at.Add(10 * time.Minute) {
		for _, tr := range trials {
			tr.run(chance, at, at.Add(10*time.Minute))
		}
	}
}

func ask(a *Advisor, policy *cache.Policy, now time.Time) Advice {
	return a.Advise(&Question{Space: "s", Policy: policy, Now: now})
}

// TestARuleThatStaysIsMeasuredOn: what is put into force again measures on, a timetable
// has no old share, and a rule that nobody saw in force is not kept as the one before.
func TestARuleThatStaysIsMeasuredOn(t *testing.T) {
	a, at := New(Config{}), monday0()
	one, other := usual(time.Hour, 0), usual(2*time.Hour, 0)
	daily := usual(24*time.Hour, 0)
	daily.Until, _ = cache.ParseCalendar("06:00 UTC")
	a.InForce([]Question{{Space: "s", Policy: &one, Now: at}})
	a.Requested("s", 1, 1, at)
	a.Called("s")
	a.Waited("s")
	again := usual(time.Hour, 0)
	a.InForce([]Question{{Space: "s", Policy: &again, Now: at.Add(time.Minute)}})
	if m := ask(a, &one, at.Add(time.Hour)).Measured; !m.Since.Equal(at) || m.CallsPerHour != 1 || m.HitRatio != 0 || m.Requests != 1 {
		t.Errorf("%+v", m)
	}
	a.InForce([]Question{{Space: "s", Policy: &other, Now: at.Add(time.Hour)}})
	a.InForce([]Question{{Space: "s", Policy: &daily, Now: at.Add(time.Hour)}})
	got := ask(a, &daily, at.Add(2*time.Hour))
	if m := got.Measured; m.OldKnown || m.TTL != 24*time.Hour || m.CallsPerHour != 0 {
		t.Errorf("%+v", m)
	}
	if got.Before == nil || got.Before.TTL != time.Hour || got.Before.CallsPerHour != 1 {
		t.Errorf("before: %+v", got.Before)
	}
}

// TestWhatIsOfAnotherVersionDoesNotCount, nor what is of an endpoint that is gone.
func TestWhatIsOfAnotherVersionDoesNotCount(t *testing.T) {
	at, policy := monday0(), usual(time.Hour, 0)
	fill := cache.Filled{Key: 1, Source: "a", BeforeSource: "a", Before: at.Add(-time.Hour), At: at}
	rule := func(version string) Question {
		return Question{Space: "s", Version: version, Policy: &policy, Now: at}
	}
	a := New(Config{})
	a.InForce([]Question{rule("one")})
	for _, name := range []string{"s", "s/pictures", "gone", "gone/pictures"} {
		fill.Space = name
		a.Filled(fill)
	}
	a.InForce([]Question{rule("one")})
	if got := a.Advise(&Question{Space: "s", Version: "one", Policy: &policy, Now: at}); got.Change.Refreshes != 1 || len(a.spaces) != 1 {
		t.Errorf("%+v, %d spaces", got.Change, len(a.spaces))
	}
	a.InForce([]Question{rule("two")})
	if got := ask(a, &policy, at); got.Change.Refreshes != 0 || got.Measured.Requests != 0 {
		t.Errorf("%+v", got)
	}
}
