package advise

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// blame is how many old answers each change has led to: few changes that matter much make
// a wide band, many that matter little a narrow one.
type blame struct {
	masses []float64 // by span; the first is of what lies outside of all
	noted  []part    // of the answer that is looked at
	stays  float64   // the probability that it is not old
}

type part struct {
	mass   int
	chance float64
}

// outside is the mass of what lies outside of all spans.
const outside = 0

func (b *blame) begin() { b.noted, b.stays = b.noted[:0], 1 }

// note takes a change with a probability.
func (b *blame) note(mass int, chance float64) {
	if chance > 0 {
		b.noted = append(b.noted, part{mass, chance})
		b.stays *= 1 - chance
	}
}

// end returns the probability that the answer is old.
func (b *blame) end(weight float64) float64 {
	old, sum := 1-b.stays, 0.0
	for _, p := range b.noted {
		sum += p.chance
	}
	for _, p := range b.noted {
		b.masses[p.mass] += weight * old * p.chance / sum
	}
	return old
}

// outOf is what one bound of a band of 95 % leaves out.
const outOf = 0.025

// band is that of a weighted sum of Poisson counts, by quantiles of the gamma
// distribution (Fay and Feuer, Stat. Med. 16, 1997), as a share of all requests. It is
// about a time as long as the one that was seen: both have their chance.
func (b *blame) band(all float64) (low, high float64) {
	sum, squares, most := 0.0, 0.0, 0.0
	for _, m := range b.masses {
		m /= all
		sum, squares, most = sum+m, squares+2*m*m, max(most, m)
	}
	if sum == 0 {
		return 0, 0
	}
	low = mathext.GammaIncRegInv(sum*sum/squares, outOf) * squares / sum
	upper, spread := sum+most, squares+most*most
	high = mathext.GammaIncRegInv(upper*upper/spread, 1-outOf) * spread / upper
	return low, math.Min(1, high)
}
