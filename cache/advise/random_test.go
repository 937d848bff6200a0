package advise_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Random draws a world. Advice was tuned on none from 1000 on: they say what may be expected of an
// endpoint that nobody has thought of, whose content changes once a day at least and that
// was watched for some weeks: of what changes less often, chance decides more than advice.
func Random(seed uint64) World {
	d := draw{rand.New(rand.NewPCG(seed, 2))}
	mean := d.span(2*time.Minute, day)
	w := World{
		Keys:    1 + int(d.between(0, 3.4)*d.between(0, 3.4)),
		Observe: time.Duration(14+d.IntN(29)) * day,
		TTL:     max(10*time.Second, min(day, time.Duration(float64(mean)*d.between(1.0/60, 1)))).Round(time.Second),
	}
	// At most some 60,000 requests in all, and at least a few hundred.
	least := 3 * w.Observe * time.Duration(w.Keys) / 60_000
	apart := max(least, min(w.Observe/200, time.Duration(float64(w.TTL)*d.between(1.0/30, 3))))
	changes, kind := d.changes(mean, w.Observe)
	w.Changes, w.Asks = d.spread(changes), d.asks(apart)
	switch d.IntN(8) {
	case 0:
		w.Grace = time.Duration(float64(w.TTL) * d.between(0.1, 3))
	case 1:
		w.Sample = 1 << (1 + d.IntN(4))
	case 2:
		w.Instances = 2 + d.IntN(2)
	case 3:
		w.Purges = d.span(6*hour, 3*day)
	case 4:
		at := time.Duration(d.Float64() * 0.7 * float64(w.Observe))
		w.Lost = [2]time.Duration{at, at + d.span(2*hour, 2*day)}
	case 5:
		at := time.Duration(d.Float64() * 0.7 * float64(w.Observe))
		w.Outage = [2]time.Duration{at, at + d.span(30*time.Minute, 12*hour)}
	}
	w.Name = fmt.Sprintf("%d: %s, %v, TTL %v", seed, kind, mean.Round(time.Second), w.TTL)
	return w
}

type draw struct{ *rand.Rand }

// between draws evenly by ratio if both are positive, else evenly.
func (d draw) between(low, high float64) float64 {
	if low <= 0 {
		return low + (high-low)*d.Float64()
	}
	return low * math.Pow(high/low, d.Float64())
}

func (d draw) span(low, high time.Duration) time.Duration {
	return time.Duration(d.between(float64(low), float64(high)))
}

// changes of which there is one in a mean time.
func (d draw) changes(mean, observe time.Duration) (Times, string) {
	switch d.IntN(9) {
	case 0:
		return every(mean, time.Duration(d.Float64()*float64(mean)), time.Duration(d.Float64()*0.3*float64(mean))), "every"
	case 1:
		from := d.IntN(12)
		return paced(mean/2, 1, byDay(from, from+12)), "by day"
	case 2:
		return paced(mean*5/7, 1, onWeekdays), "weekdays"
	case 3:
		n := 2 + d.IntN(8)
		return clusters(mean*time.Duration(n+1)/2, n, time.Duration(float64(mean)*d.between(0.02, 0.4))), "clusters"
	case 4:
		f := d.between(1.5, 6)
		return switching(time.Duration(float64(mean)/f), time.Duration(float64(mean)*f), d.span(mean, 4*day)), "switching"
	case 5:
		f := d.between(0.4, 2.5)
		return paced(mean, max(1, f), drifting(3*observe, 1, f)), "drifting"
	case 6:
		f, at := d.between(0.15, 6), time.Duration(d.between(0.2, 0.7)*float64(observe))
		return paced(mean, max(1, f), since(at, 1, f)), "another rate"
	default:
		return poisson(mean), "at random"
	}
}

// spread has keys differ: what happens to each, happens faster or more slowly.
func (d draw) spread(times Times) Times {
	factors := make([]float64, 64)
	for i := range factors {
		factors[i] = math.Exp(0.7 * d.NormFloat64())
	}
	if d.IntN(2) == 0 {
		return times
	}
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		f := factors[key%len(factors)]
		out := times(r, key, time.Duration(float64(until)/f))
		for i := range out {
			out[i] = time.Duration(float64(out[i]) * f)
		}
		return out
	}
}

func (d draw) asks(apart time.Duration) Times {
	switch d.IntN(4) {
	case 0:
		return paced(apart, 2, daylight)
	case 1:
		n := 2 + d.IntN(30)
		return clusters(apart*time.Duration(n+1)/2, n, apart/20+time.Millisecond)
	case 2:
		return byKey(func(key int) time.Duration { return apart * time.Duration(key+1) })
	}
	return poisson(apart)
}
