package advisor

import (
	"cmp"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"
)

const (
	// topKeys is how many keys of a space are counted one by one: 24 bytes each, and
	// their index.
	topKeys = 128
	// half is the time after which what was counted counts half.
	half = 24 * time.Hour
	// samplesPerSecond is how many requests of a space are looked at in a second, about.
	samplesPerSecond = 64
	// maxWeight bounds how many requests one stands for.
	maxWeight = 1 << 16
)

// Load are keys that are requested alike.
type Load struct {
	Keys float64 // how many
	Rate float64 // requests per second of each
}

// traffic is what is known of the requests of a space: how many, and how they are spread
// over the keys. The zero value is ready.
type traffic struct {
	began    time.Time
	requests float64 // those since began, and half of those before, and so on
	span     float64 // the seconds in which they came, likewise
	top      []keyCount
	index    map[mark]int // of top, by key
	distinct [2]distinct  // of the keys since began, and in the time before

	second  int64 // in which samples were counted
	samples int
}

// keyCount counts a key as the algorithm Space-Saving does: the count is too high by at
// most err.
type keyCount struct {
	key        mark
	count, err float64
}

// request counts one that stands for so many, and returns the weight of the next one.
func (t *traffic) request(key uint64, weight uint32, now time.Time) uint32 {
	t.turn(now)
	t.requests += float64(weight)
	t.distinct[0].note(key)
	t.count(markOf(key), float64(weight))
	return t.nextWeight(weight, now.Unix())
}

// turn lets what was counted count half, once half is over.
func (t *traffic) turn(now time.Time) {
	switch {
	case t.began.IsZero():
		t.began = now
	case now.Sub(t.began) >= half:
		t.span = (t.span + now.Sub(t.began).Seconds()) / 2
		t.requests /= 2
		for i := range t.top {
			t.top[i].count /= 2
			t.top[i].err /= 2
		}
		t.began, t.distinct = now, [2]distinct{{}, t.distinct[0]}
	}
}

func (t *traffic) count(key mark, weight float64) {
	if i, ok := t.index[key]; ok {
		t.top[i].count += weight
		return
	}
	if t.index == nil {
		t.index = map[mark]int{}
	}
	if len(t.top) < topKeys {
		t.index[key] = len(t.top)
		t.top = append(t.top, keyCount{key: key, count: weight})
		return
	}
	least := 0
	for i := range t.top {
		if t.top[i].count < t.top[least].count {
			least = i
		}
	}
	delete(t.index, t.top[least].key)
	t.index[key] = least
	t.top[least] = keyCount{key: key, count: t.top[least].count + weight, err: t.top[least].count}
}

// nextWeight doubles the weight when too many samples come in a second, and lowers it
// again when few do.
func (t *traffic) nextWeight(weight uint32, second int64) uint32 {
	if passed := second - t.second; passed != 0 {
		rate := t.samples / int(max(1, min(passed, 60)))
		t.second, t.samples = second, 1
		switch {
		case passed > 10:
			return 1
		case rate < samplesPerSecond/4:
			return max(1, weight/2)
		}
		return weight
	}
	if t.samples++; t.samples <= samplesPerSecond || weight >= maxWeight {
		return weight
	}
	t.samples = 0
	return weight * 2
}

// seconds is the time in which the requests came.
func (t *traffic) seconds(now time.Time) float64 {
	if t.began.IsZero() {
		return t.span
	}
	return t.span + max(0, now.Sub(t.began).Seconds())
}

// tail divides a rate among keys, in steps of their rank: the first are requested as often
// as the last of the top, the further ones less, so that all add up to the rate.
func tail(top []Load, keys, rate float64) []Load {
	if len(top) == 0 {
		return []Load{{keys, rate / keys}}
	}
	first, rank := top[len(top)-1].Rate, float64(len(top))
	if first*keys <= rate {
		return []Load{{keys, rate / keys}}
	}
	low, high := 0.0, 20.0
	for range 40 {
		if mid := (low + high) / 2; sumOf(steps(first, rank, keys, mid)) > rate {
			low = mid
		} else {
			high = mid
		}
	}
	loads := steps(first, rank, keys, low)
	scale := rate / sumOf(loads)
	for i := range loads {
		loads[i].Rate *= scale
	}
	return loads
}

func steps(first, rank, keys, power float64) []Load {
	const ratio = 1.25
	var loads []Load
	for from := rank; from < rank+keys; {
		to := min(max(from*ratio, from+1), rank+keys)
		loads = append(loads, Load{to - from, first * math.Pow(math.Sqrt(from*to)/rank, -power)})
		from = to
	}
	return loads
}

// sumOf is the rate of all.
func sumOf(loads []Load) float64 {
	sum := 0.0
	for _, l := range loads {
		sum += l.Keys * l.Rate
	}
	return sum
}

// distinct estimates how many different hashes were added (HyperLogLog), to about 3 %.
type distinct [1024]uint8

func (d *distinct) note(hash uint64) {
	hash *= 0x9e3779b97f4a7c15 // the hash also chooses elsewhere, by other bits
	i := hash >> 54
	if zeros := uint8(bits.LeadingZeros64(hash<<10|1<<9)) + 1; zeros > d[i] {
		d[i] = zeros
	}
}

func (d *distinct) estimate() float64 {
	const m = float64(len(d))
	sum, empty := 0.0, 0
	for _, z := range d {
		if sum += math.Ldexp(1, -int(z)); z == 0 {
			empty++
		}
	}
	estimate := 0.7213 / (1 + 1.079/m) * m * m / sum
	if estimate <= 2.5*m && empty > 0 {
		return m * math.Log(m/float64(empty))
	}
	return estimate
}

// add takes what another one has counted, register by register.
func (d *distinct) add(o *distinct) {
	for i, z := range o {
		d[i] = max(d[i], z)
	}
}

// filled is told of a fill of a key: each key of the tail is filled, but of its requests
// perhaps none is in the sample.
func (t *traffic) filled(key uint64) { t.distinct[0].note(key) }

// inherit takes what an instance before this one had counted by then, as if it had been
// this one.
func (t *traffic) inherit(o *traffic, at time.Time) {
	next := *o
	next.span, next.began = o.seconds(at)+t.span, t.began
	next.top, next.index = slices.Clone(o.top), maps.Clone(o.index)
	next.requests += t.requests
	next.second, next.samples = t.second, t.samples
	next.distinct[0].add(&t.distinct[0])
	for _, k := range t.top {
		next.count(k.key, k.count)
	}
	*t = next
}

// alike joins keys that are requested nearly as often.
func alike(loads []Load) []Load {
	const ratio = 1.15
	byRate := map[int]Load{}
	for _, l := range loads {
		if l.Rate <= 0 || l.Keys <= 0 {
			continue
		}
		bin := int(math.Round(math.Log(l.Rate) / math.Log(ratio)))
		sum := byRate[bin]
		byRate[bin] = Load{sum.Keys + l.Keys, sum.Rate + l.Keys*l.Rate}
	}
	var out []Load
	for _, l := range byRate {
		out = append(out, Load{l.Keys, l.Rate / l.Keys})
	}
	slices.SortFunc(out, func(a, b Load) int { return cmp.Compare(b.Rate, a.Rate) })
	return out
}
