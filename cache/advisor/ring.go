package advisor

import "math"

// ring is a period, divided into phases.
type ring struct {
	period, step float64
	n            int
}

func newRing(p periodPrior) ring {
	return ring{p.period.Seconds(), p.period.Seconds() / float64(p.bins), p.bins}
}

// cover adds up, for each phase, the spans that hold it: one for each, or its value. One
// that lasts for several periods counts for each of them, or once.
func (r ring) cover(spans []span, values []float64, once bool) []float64 {
	diff := make([]float64, r.n+1)
	for i, s := range spans {
		v := 1.0
		if values != nil {
			v = values[i]
		}
		first, last := int(math.Floor(s.from/r.step))+1, int(math.Floor(s.to/r.step))
		if times := (last - first + 1) / r.n; times > 0 {
			if last -= times * r.n; once {
				times, last = 1, first-1
			}
			diff[0] += v * float64(times)
		}
		r.mark(diff, first, last, v)
	}
	for b := 1; b < r.n; b++ {
		diff[b] += diff[b-1]
	}
	return diff[:r.n]
}

// cost adds up, for each phase, the parts of windows that hold it.
func (r ring) cost(parts [][]part) []float64 {
	var spans []span
	var values []float64
	for _, window := range parts {
		for _, p := range window {
			if p.from < p.to {
				spans, values = append(spans, p.span), append(values, p.log)
			}
		}
	}
	return r.cover(spans, values, true)
}

// mark adds v from one phase to another, which are less than a period apart; none if
// last is before first.
func (r ring) mark(diff []float64, first, last int, v float64) {
	if last < first {
		return
	}
	length := last - first
	first = ((first % r.n) + r.n) % r.n
	diff[first] += v
	if last = first + length; last < r.n {
		diff[last+1] -= v
		return
	}
	diff[r.n] -= v
	diff[0] += v
	diff[last-r.n+1] -= v
}
