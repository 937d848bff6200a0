package advise

import "math"

// Changes may come in bunches: then a part of a span holds one more often than its length
// says. What refreshes found tells how much, by how often two spans in a row changed: as
// each of two spans is to both, so is a part of a span to all of it.

const (
	// leastPower bounds what is believed of bunches.
	leastPower = 0.3
	// alike is how many times as long one of two spans may be as the other, to tell.
	alike = 2
	// seenPart is the part of a span down to which the power is believed.
	seenPart = 0.1
	// beyond is how many standard deviations are taken for chance.
	beyond = 1
)

// bunched is the power of the part of a span that is the probability that the change was
// in it: 1 if changes come at random, less if in bunches.
func bunched(courses []*course) float64 {
	var parts []float64 // of each span of two of which one at least changed
	found, atRandom, variance := 0.0, 0.0, 0.0
	for _, c := range courses {
		for i := 1; i < len(c.spans); i++ {
			a, b := &c.spans[i-1], &c.spans[i]
			if x, y := a.to-a.from, b.to-b.from; a.found == First || b.found == First || a.found == Unchanged && b.found == Unchanged || x > alike*y || y > alike*x {
				continue
			}
			rate, whole := max(a.rate, b.rate), float64(b.to-a.from)
			p := math.Expm1(-rate*float64(a.to-a.from)) / math.Expm1(-rate*whole)
			q := math.Expm1(-rate*float64(b.to-b.from)) / math.Expm1(-rate*whole)
			parts = append(parts, p, q)
			if found++; a.found == b.found {
				found++
			}
			atRandom += p + q
			variance += (p + q - 1) * (2 - p - q)
		}
	}
	found -= beyond * math.Sqrt(variance)
	low, high := leastPower, 1.0
	for found > atRandom && high-low > 0.01 {
		middle, sum := (low+high)/2, 0.0
		for _, p := range parts {
			sum += math.Pow(p, middle)
		}
		if sum > found {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
