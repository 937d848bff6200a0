package advisor

import (
	"cmp"
	"slices"
	"time"
)

// rates are the requests per second of a space, at one instance or at several.
type rates struct {
	all      float64
	top      map[mark]rate // of the keys that are counted one by one
	distinct [2]distinct   // see traffic
}

// rate is too high by at most err.
type rate struct{ count, err float64 }

// sure reports whether a key is counted, and not only the last in the place of others.
func (r rate) sure() bool { return r.err <= r.count/2 }

// likely is the middle of what the rate may be.
func (r rate) likely() float64 { return r.count - r.err/2 }

// rates are those up to now.
func (t *traffic) rates(now time.Time) *rates {
	r := &rates{top: map[mark]rate{}, distinct: t.distinct}
	seconds := t.seconds(now)
	if seconds <= 0 {
		return r
	}
	r.all = t.requests / seconds
	for _, k := range t.top {
		r.top[k.key] = rate{k.count / seconds, k.err / seconds}
	}
	return r
}

// add adds those of another instance. A key that one of them does not count is known by
// the others alone, so of unpopular keys too little is added, which goes to the tail.
func (r *rates) add(o *rates) {
	r.all += o.all
	for key, x := range o.top {
		sum := r.top[key]
		r.top[key] = rate{sum.count + x.count, sum.err + x.err}
	}
	for i := range r.distinct {
		r.distinct[i].add(&o.distinct[i])
	}
}

// keys estimates how many different ones were requested in a day.
func (r *rates) keys() float64 { return max(r.distinct[0].estimate(), r.distinct[1].estimate()) }

// loads describes the requests: the keys that are requested most one by one, the others
// as a tail whose rates fall as a power of their rank.
func (r *rates) loads() []Load {
	if r.all <= 0 {
		return nil
	}
	var loads []Load
	rest := r.all
	for _, x := range r.sorted() {
		if !x.sure() || x.likely() > rest {
			break // keys of the tail
		}
		loads = append(loads, Load{1, x.likely()})
		rest -= x.likely()
	}
	more := r.keys() - float64(len(loads))
	if rest < 0.001*r.all && more < 1 {
		return loads
	}
	return append(loads, tail(loads, max(1, more), rest)...)
}

// sorted are the largest first.
func (r *rates) sorted() []rate {
	all := make([]rate, 0, len(r.top))
	for _, x := range r.top {
		all = append(all, x)
	}
	slices.SortFunc(all, func(a, b rate) int {
		return cmp.Or(cmp.Compare(b.count-b.err, a.count-a.err), cmp.Compare(b.count, a.count))
	})
	return all
}

// byKey returns the rate of each key, of those that are not counted one by one in the mean.
func (r *rates) byKey() func(key mark) float64 {
	rest, counted := r.all, 0.0
	for _, x := range r.top {
		if x.sure() {
			rest -= x.likely()
			counted++
		}
	}
	mean := max(0, rest) / max(1, r.keys()-counted)
	return func(key mark) float64 {
		if x := r.top[key]; x.count > 0 && x.sure() {
			return x.likely()
		}
		return mean
	}
}
