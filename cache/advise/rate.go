package advise

import "math"

// neighbours is how many spans on each side tell the rate within one.
const neighbours = 8

// enough unchanged spans, about, tell how often the others change.
const enough = 4

// rates are how often contents change within spans.
type rates struct {
	spans     []span
	unchanged []int // spans before each one
	blocks    map[[2]int]float64
}

func ratesOf(spans []span) *rates {
	r := &rates{spans: spans, unchanged: make([]int, len(spans)+1), blocks: map[[2]int]float64{}}
	for i := range spans {
		r.unchanged[i+1] = r.unchanged[i]
		if spans[i].found == Unchanged {
			r.unchanged[i+1]++
		}
	}
	return r
}

// within a span is the rate of its neighbours. Where few spans are unchanged, it takes more
// of them to tell a rate, and where none is, all of the key tell a lower bound.
func (r *rates) within(i int) float64 {
	n := len(r.spans)
	from, to := max(0, i-neighbours), min(n, i+neighbours+1)
	size := 2 * neighbours
	for size < n && size*r.unchanged[n] < enough*n {
		size *= 2
	}
	if size > 2*neighbours {
		from = i / size * size
		to = min(n, from+size)
	}
	rate := r.block(from, to)
	if r.unchanged[to] == r.unchanged[from] {
		return max(rate, r.block(0, n))
	}
	return rate
}

// block is the rate of many spans, which is found once.
func (r *rates) block(from, to int) float64 {
	at := [2]int{from, to}
	if _, ok := r.blocks[at]; !ok {
		r.blocks[at] = rateOf(r.spans[from:to])
	}
	return r.blocks[at]
}

// rateOf is the likeliest rate, per millisecond, of changes at random, of which a refresh
// finds that there were some, not how many: it solves, by Newton's method,
//
//	sum over changed of t/(e^(rate*t)-1) = sum over unchanged of t + half the mean t
//
// (Cho and Garcia-Molina, Estimating frequency of change, ACM TOIT 3(3), 2003). It is 0 if
// nothing changed.
func rateOf(spans []span) float64 {
	unchanged, total, known, changes := 0.0, 0.0, 0.0, 0.0
	for i := range spans {
		t := float64(spans[i].to - spans[i].from)
		switch spans[i].found {
		case Unchanged:
			unchanged += t
		case Changed:
			changes++
		default:
			continue
		}
		known++
		total += t
	}
	if changes == 0 {
		return 0
	}
	right := unchanged + total/(2*known)
	// So it is if all spans are equal.
	rate := math.Log((known+0.5)/(known-changes+0.5)) * known / total
	for range 30 {
		left, slope := changedTime(spans, rate)
		next := max(rate/4, min(4*rate, rate+(left-right)/slope))
		if near := math.Abs(next-rate) < 1e-4*rate; near {
			return next
		}
		rate = next
	}
	return rate
}

// changedTime is the left side of the equation of rateOf, and how fast it falls.
func changedTime(spans []span, rate float64) (sum, slope float64) {
	for i := range spans {
		if spans[i].found == Changed {
			t := float64(spans[i].to - spans[i].from)
			u := t / math.Expm1(rate*t)
			sum += u
			slope += u * (t + u)
		}
	}
	return sum, slope
}
