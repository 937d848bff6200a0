package advisor

import "math"

// A content that changes at random, at a rate, is observed incompletely: a refresh tells
// whether it changed since the one before, not how often. The estimators are those of
// Cho and Garcia-Molina, "Estimating frequency of change" (2003).

// Bounds of rates, in changes per second: one in 300 years, and ten a second.
const (
	minRate = 1e-10
	maxRate = 10
)

// likely is by how much the log-likelihood of a rate within the interval of 95 % may be
// below that of the likeliest: half of the quantile of chi-squared.
const likely = 1.92

// ruleOfThree is the rate, per time without any change, that 95 % of such times would
// have shown to be too high.
const ruleOfThree = 3.0

// looks are the observations of one content, or of many that are taken for alike.
type looks struct {
	changed   []float64 // seconds of the intervals with a change
	unchanged float64   // seconds of all intervals without one, together
	n         int       // refreshes
	total     float64   // seconds of all intervals
}

func looksOf(list []observation, of func(*observation) bool) looks {
	var l looks
	for i := range list {
		o := &list[i]
		if of != nil && !of(o) {
			continue
		}
		l.n += int(o.looks)
		l.total += o.seconds()
		if o.changed {
			l.changed = append(l.changed, o.seconds())
		} else {
			l.unchanged += o.seconds()
		}
	}
	return l
}

// rate estimates the changes per second; 0 if none was seen. It solves
//
//	sum over changed of t/(e^(rate*t)-1) = sum over unchanged of t
//
// with half an unchanged interval of mean length more: with intervals of one length that
// is the bias-corrected estimator -log((n-X+0.5)/(n+0.5)) of the paper, and it is finite
// where every interval has a change.
func (l *looks) rate() float64 {
	if len(l.changed) == 0 {
		return 0
	}
	return l.solve(l.unchanged + 0.5*l.total/float64(l.n))
}

// solve finds the rate for which the changed intervals balance the unchanged seconds.
func (l *looks) solve(unchanged float64) float64 {
	return bisect(func(rate float64) bool {
		sum := 0.0
		for _, t := range l.changed {
			sum += t / math.Expm1(rate*t)
		}
		return sum > unchanged
	})
}

// bisect finds where a condition on the rate that holds for low ones ceases to.
func bisect(holds func(rate float64) bool) float64 {
	low, high := math.Log(minRate), math.Log(float64(maxRate))
	for range 50 {
		if mid := (low + high) / 2; holds(math.Exp(mid)) {
			low = mid
		} else {
			high = mid
		}
	}
	return math.Exp((low + high) / 2)
}

// logLikelihood of what was seen, at a rate above 0.
func (l *looks) logLikelihood(rate float64) float64 {
	sum := -rate * l.unchanged
	for _, t := range l.changed {
		sum += math.Log(-math.Expm1(-rate * t))
	}
	return sum
}

// best is the largest log-likelihood.
func (l *looks) best() float64 {
	if len(l.changed) == 0 || l.unchanged == 0 {
		return 0
	}
	return l.logLikelihood(l.solve(l.unchanged))
}

// bounds are those of the rate with a probability of 95 %; high is +Inf where every
// interval has a change, low is 0 where none has.
func (l *looks) bounds() (low, high float64) {
	switch {
	case l.n == 0:
		return 0, math.Inf(1)
	case len(l.changed) == 0:
		return 0, ruleOfThree / l.unchanged
	}
	least := l.best() - likely
	peak := math.Inf(1)
	if l.unchanged > 0 {
		peak = l.solve(l.unchanged)
	}
	low = bisect(func(rate float64) bool { return rate < peak && l.logLikelihood(rate) < least })
	if math.IsInf(peak, 1) {
		return low, peak
	}
	return low, bisect(func(rate float64) bool { return rate < peak || l.logLikelihood(rate) > least })
}
