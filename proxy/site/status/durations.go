package status

import "time"

// durations counts requests by how long they took: those up to each bound, in seconds,
// that are above the one before, and last those above all bounds.
type durations []uint64

// quantile estimates the duration that a share q of the requests did not exceed, on the
// assumption that those of a bucket are spread evenly over it. Of those above all
// bounds nothing but the last bound is known. It is 0 without requests.
func (d durations) quantile(q float64, bounds []float64) time.Duration {
	var all uint64
	for _, n := range d {
		all += n
	}
	rank, below := q*float64(all), 0.0
	for i, n := range d[:min(len(d), len(bounds))] {
		if within := float64(n); within > 0 && below+within >= rank {
			low := 0.0
			if i > 0 {
				low = bounds[i-1]
			}
			return inSeconds(low + (bounds[i]-low)*(rank-below)/within)
		}
		below += float64(n)
	}
	if all == 0 {
		return 0
	}
	return inSeconds(bounds[len(bounds)-1])
}

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// add adds what was counted from before to after to d, which has their length.
func (d durations) add(before, after durations) {
	for i := range d {
		d[i] += after[i] - before[i]
	}
}
