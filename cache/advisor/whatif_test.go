package advisor

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
)

// TestWhatIfByWhatIsRemembered: from what was seen under one rule, the simulation says of
// others what then comes of them, request by request, within 5 %: with keys of all kinds,
// whose content and popularity nobody has told.
func TestWhatIfByWhatIsRemembered(t *testing.T) {
	present := usual(15*time.Minute, 10*time.Minute)
	others := []cache.Policy{usual(3*time.Minute, 0), usual(time.Hour, 10*time.Minute), usual(4*time.Hour, time.Hour)}
	for i := range others {
		others[i].SoftTimeout = cache.DefaultSoftTimeout // fills are faster
	}
	from := monday0()
	seen, to := from.Add(5*dayLength), from.Add(25*dayLength)
	a, chance := ruled(&present, from), rand.New(rand.NewPCG(6, 1))
	var trials []*trial
	for i, rate := range zipf(40, 1, 1) {
		trials = append(trials, &trial{policy: present, rate: rate, key: mix(uint64(i) + 1), tell: a, everything: true, changes: atRandom(time.Hour)(chance, from, to)})
	}
	side(chance, trials, from, seen)
	advice := ask(a, &present, seen)
	pattern := whatif.Pattern{Span: 20 * dayLength, Events: 2_000_000}
	for _, l := range advice.Prediction.Loads {
		pattern.Loads = append(pattern.Loads, whatif.Load{Keys: l.Keys, Rate: l.Rate})
	}
	sim, err := pattern.Replay(t.Context(), whatif.Config{Rules: others, Changes: advice.Changes(), From: seen})
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range sim.Outcomes() {
		var sum trial
		for _, tr := range trials {
			real := trial{policy: others[i], rate: tr.rate, changes: tr.changes}
			real.run(chance, seen, to)
			sum.requests, sum.calls, sum.waits, sum.old = sum.requests+real.requests, sum.calls+real.calls, sum.waits+real.waits, sum.old+real.old
		}
		for what, pair := range map[string][2]float64{
			"calls an hour": {o.CallsPerHour, sum.calls / to.Sub(seen).Hours()}, "hits": {o.HitRatio(), 1 - sum.waits/sum.requests}, "old": {o.Older, sum.old / sum.requests},
		} {
			t.Logf("%v: %s %.4f, then %.4f", others[i].TTL, what, pair[0], pair[1])
			if math.Abs(pair[0]-pair[1]) > 0.05*pair[1] {
				t.Errorf("%v: %s %.4f, then %.4f", others[i].TTL, what, pair[0], pair[1])
			}
		}
	}
}
