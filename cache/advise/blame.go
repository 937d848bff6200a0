package advise

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// blame is how many old answers each change has led to: few changes that matter much make
// a wide band, many that matter little a narrow one.
type blame struct {
	masses  []float64
	changes []float64 // that each mass rests on
	noted   []part    // of the answer that is looked at
	stays   float64   // the probability that it is not old
	doubts  float64   // of all old answers
	// bunched is stays if changes come in bunches that refreshes are too far apart to see, and
	// olds and oldsBunched are the old answers either way.
	bunched, olds, oldsBunched float64
}

type part struct {
	mass   int
	chance float64
	doubt  float64
}

func (b *blame) begin() { b.noted, b.stays, b.bunched = b.noted[:0], 1, 1 }

// note takes a change with a probability, and how much that is in doubt.
func (b *blame) note(mass int, chance, doubt float64) {
	if chance > 0 {
		b.noted = append(b.noted, part{mass, chance, doubt})
		b.stays *= 1 - chance
		b.bunched *= 1 - bunchedPart(chance)
	}
}

// bunchedPart is the probability of a change in a part of a span if bunches were hidden in
// it: the power 3/4 of what was taken.
func bunchedPart(chance float64) float64 {
	return chance / math.Sqrt(math.Sqrt(max(chance, seenPart)))
}

// end returns the probability that the answer is old.
func (b *blame) end(weight float64) float64 {
	old, sum := 1-b.stays, 0.0
	b.olds += weight * old
	b.oldsBunched += weight * (1 - b.bunched)
	for _, p := range b.noted {
		sum += p.chance
	}
	for _, p := range b.noted {
		mass := weight * old * p.chance / sum
		b.masses[p.mass] += mass
		b.doubts += mass * p.doubt
	}
	return old
}

// unseen is by how much more might be old, if changes came in bunches.
func (b *blame) unseen() float64 {
	if b.olds == 0 {
		return 1
	}
	return b.oldsBunched / b.olds
}

// outOf is what one bound of a band of 95 % leaves out.
const outOf = 0.025

// band is that of a weighted sum of Poisson counts, by quantiles of the gamma
// distribution (Fay and Feuer, Stat. Med. 16, 1997), as a share of all requests. It is
// about a time as long as the one that was seen: both have their chance. If old answers
// scatter more from day to day than changes at random would, that scatter counts.
func (b *blame) band(all, scatter float64) (low, high float64) {
	sum, squares, most := 0.0, 0.0, 0.0
	for i, m := range b.masses {
		sum, squares, most = sum+m, squares+m*m/b.changes[i], max(most, m/b.changes[i])
	}
	if sum == 0 {
		return 0, 0
	}
	squares *= 1 + b.doubts/sum
	squares = 2 * max(squares, scatter) / (all * all)
	sum, most = sum/all, most/all
	low = mathext.GammaIncRegInv(sum*sum/squares, outOf) * squares / sum
	upper, spread := sum+most, squares+most*most
	high = mathext.GammaIncRegInv(upper*upper/spread, 1-outOf) * spread / upper
	return low, math.Min(1, high)
}

// scatterOfSum is the variance of the sum of days, by how they differ.
func scatterOfSum(days []float64) float64 {
	n := float64(len(days))
	if n < 2 {
		return 0
	}
	sum, squares := 0.0, 0.0
	for _, d := range days {
		sum += d
		squares += d * d
	}
	return (squares - sum*sum/n) * n / (n - 1)
}
