package advise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Times draws when something happens to a key, from the beginning on, in order.
type Times func(r *rand.Rand, key int, until time.Duration) []time.Duration

const (
	hour = time.Hour
	day  = 24 * hour
	week = 7 * day
)

func wait(r *rand.Rand, mean time.Duration) time.Duration {
	return time.Duration(r.ExpFloat64()*float64(mean)) + time.Millisecond
}

// poisson are times at random.
func poisson(mean time.Duration) Times {
	return func(r *rand.Rand, _ int, until time.Duration) []time.Duration {
		var out []time.Duration
		for at := wait(r, mean); at < until; at += wait(r, mean) {
			out = append(out, at)
		}
		return out
	}
}

// byKey draws the times of each key by a mean of its own.
func byKey(mean func(key int) time.Duration) Times {
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		return poisson(mean(key))(r, key, until)
	}
}

// every are times at a fixed interval from a first one on, each late by up to a time.
func every(step, first, late time.Duration) Times {
	return func(r *rand.Rand, _ int, until time.Duration) []time.Duration {
		var out []time.Duration
		for at := first; at < until; at += step {
			out = append(out, at+time.Duration(r.Float64()*float64(late)))
		}
		return out
	}
}

// paced are times at random whose rate, as a factor, depends on the time.
func paced(mean time.Duration, most float64, factor func(at time.Duration) float64) Times {
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		times := poisson(time.Duration(float64(mean)/most))(r, key, until)
		return slices.DeleteFunc(times, func(at time.Duration) bool { return r.Float64()*most > factor(at) })
	}
}

// byDay is 1 between two hours of the day, and else 0.
func byDay(from, to int) func(time.Duration) float64 {
	return func(at time.Duration) float64 {
		if h := int(at/hour) % 24; h >= from && h < to {
			return 1
		}
		return 0
	}
}

// onWeekdays is 1 from Monday to Friday, and else 0.
func onWeekdays(at time.Duration) float64 {
	if at%week < 5*day {
		return 1
	}
	return 0
}

// since is one factor up to a time, and another one from then on.
func since(when time.Duration, before, after float64) func(time.Duration) float64 {
	return func(at time.Duration) float64 {
		if at < when {
			return before
		}
		return after
	}
}

// drifting grows from one factor to another, evenly by ratio.
func drifting(over time.Duration, from, to float64) func(time.Duration) float64 {
	return func(at time.Duration) float64 { return from * math.Pow(to/from, float64(at)/float64(over)) }
}

// daylight is a smooth day: least at midnight, most at noon.
func daylight(at time.Duration) float64 {
	return 1 - 0.9*math.Cos(2*math.Pi*float64(at%day)/float64(day))
}

// switching changes between a busy and a quiet time, each of random length.
func switching(busy, quiet, stay time.Duration) Times {
	return func(r *rand.Rand, _ int, until time.Duration) []time.Duration {
		var out []time.Duration
		mean, other := busy, quiet
		for at := time.Duration(0); at < until; mean, other = other, mean {
			end := min(until, at+wait(r, stay))
			for at += wait(r, mean); at < end; at += wait(r, mean) {
				out = append(out, at)
			}
			at = end
		}
		return out
	}
}

// clusters come at random, of up to so many each, close together.
func clusters(mean time.Duration, most int, within time.Duration) Times {
	return func(r *rand.Rand, key int, until time.Duration) []time.Duration {
		var out []time.Duration
		for _, at := range poisson(mean)(r, key, until) {
			for range 1 + r.IntN(most) {
				at += wait(r, within)
				out = append(out, at)
			}
		}
		slices.Sort(out)
		return out
	}
}
