package advisor

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"sundry/cache"
)

const (
	// maxObservations bounds those that are kept of one space: 32 bytes each.
	maxObservations = 2048
	// fleetObservations bounds those of a space that a whole fleet has made.
	fleetObservations = 2 * maxObservations
	// maxSources bounds the sources of a space that are told apart.
	maxSources = 8
	// memory is how long observations count: habits of upstreams change. It holds
	// several publications of a weekly.
	memory = 35 * 24 * time.Hour
	// mergeReach is how many observations back the last one of the same key is looked
	// for.
	mergeReach = 64
	// fewKeys is how many keys are too few to choose among them when there is no room.
	fewKeys = 64
	// otherSource is the index of all sources past maxSources.
	otherSource = maxSources
)

// observation is what refreshes of one key showed: that its content was the same at
// from and at to, or that it changed in between. Times are in Unix milliseconds.
type observation struct {
	from, to int64
	key      mark
	looks    uint32 // refreshes: one, or more in a row without a change
	source   uint8  // index into the sources
	depth    uint8  // of the key
	changed  bool
}

// mark tells keys apart, as a rule: 24 bits of their hash, of which nobody can tell the
// key again where there are many.
type mark uint32

func markOf(key uint64) mark { return mark(key & (1<<24 - 1)) }

// depthOf is by how many bits keys may be chosen until this one no longer is.
func depthOf(key uint64) uint8 { return uint8(min(bits.LeadingZeros64(key), maxDepth)) }

// maxDepth leaves the bits of the mark out.
const maxDepth = 40

// seconds is the length of the interval.
func (o *observation) seconds() float64 { return float64(o.to-o.from) / 1000 }

// history holds the observations of a space, the oldest first. Of many keys, it keeps
// those of a part of the keys, whatever they show. The zero value is ready.
type history struct {
	list    []observation
	sources []string
	// thinned is by how many bits of their hash keys are chosen: one in 2^thinned.
	thinned uint8
	// seen changes with every observation.
	seen uint64
}

// add takes what a fill found out. A content that differs because another source words
// it differently has not changed.
func (h *history) add(f *cache.Filled) {
	if f.Before.IsZero() || f.Changed && f.Source != f.BeforeSource || depthOf(f.Key) < h.thinned {
		return
	}
	o := observation{
		from: f.Before.UnixMilli(), to: f.At.UnixMilli(), key: markOf(f.Key), looks: 1,
		source: h.sourceIndex(f.Source), depth: depthOf(f.Key), changed: f.Changed,
	}
	if o.from >= o.to || o.from < 0 {
		return
	}
	h.seen++
	if h.merge(&o) {
		return
	}
	if len(h.list) == maxObservations {
		h.makeRoom(o.to, maxObservations*7/8)
	}
	h.list = append(h.list, o)
}

func (h *history) sourceIndex(name string) uint8 {
	if i := slices.Index(h.sources, name); i >= 0 {
		return uint8(i)
	}
	if len(h.sources) == maxSources {
		return otherSource
	}
	h.sources = append(h.sources, name)
	return uint8(len(h.sources) - 1)
}

// merge adds to the last observation of the key that the content was the same for still
// longer. Nothing is lost by that, whatever the content changes by.
func (h *history) merge(o *observation) bool {
	if o.changed {
		return false
	}
	for i := len(h.list) - 1; i >= max(0, len(h.list)-mergeReach); i-- {
		last := &h.list[i]
		if last.key != o.key || last.to > o.from {
			continue
		}
		if last.to != o.from || last.changed || last.source != o.source {
			return false
		}
		last.to = o.to
		last.looks++
		return true
	}
	return false
}

// makeRoom drops what is too old; as long as more than most are left, the observations of
// half of the keys, and where there are few keys, the oldest quarter.
func (h *history) makeRoom(now int64, most int) {
	before := now - memory.Milliseconds()
	h.list = slices.DeleteFunc(h.list, func(o observation) bool { return o.to < before })
	for len(h.list) > most {
		if h.keys() >= fewKeys && h.thinned < maxDepth {
			h.thin(h.thinned + 1)
		}
		if len(h.list) > most {
			h.list = slices.Delete(h.list, 0, len(h.list)/4)
		}
	}
}

// thin keeps the observations of keys of that depth.
func (h *history) thin(depth uint8) {
	h.thinned = max(h.thinned, depth)
	h.list = slices.DeleteFunc(h.list, func(o observation) bool { return o.depth < h.thinned })
}

func (h *history) keys() int {
	seen := map[mark]bool{}
	for i := range h.list {
		seen[h.list[i].key] = true
	}
	return len(seen)
}

// recent are the observations that count at now.
func (h *history) recent(now time.Time) []observation {
	before := now.Add(-memory).UnixMilli()
	return slices.DeleteFunc(slices.Clone(h.list), func(o observation) bool { return o.to < before })
}

// mainSource is the one that most refreshes were answered by; "" for none.
func (h *history) mainSource() string {
	var refreshes [maxSources + 1]int
	best := 0
	for i := range h.list {
		s := h.list[i].source
		if refreshes[s] += int(h.list[i].looks); refreshes[s] > refreshes[best] {
			best = int(s)
		}
	}
	if best >= len(h.sources) {
		return ""
	}
	return h.sources[best]
}

// joined is what several histories hold together: those of the instances of a fleet, each
// of which sees the refreshes that it makes. A refresh is compared with the version before
// it, wherever that was made, so in the order of time they are as those of one instance.
// Where intervals of a key overlap, because instances did not know of each other's
// refreshes, what two of them saw counts once.
func joined(all ...*history) *history {
	out := &history{}
	for _, h := range all {
		out.thinned = max(out.thinned, h.thinned)
	}
	for _, h := range all {
		out.seen += h.seen
		for _, o := range h.list {
			if o.depth >= out.thinned {
				o.source = out.sourceOf(h, o.source)
				out.list = append(out.list, o)
			}
		}
	}
	out.disentangle()
	out.list = slices.Clip(out.list)
	slices.SortStableFunc(out.list, func(a, b observation) int { return cmp.Compare(a.to, b.to) })
	return out
}

// sourceOf is the index here of another history's source.
func (h *history) sourceOf(other *history, i uint8) uint8 {
	if int(i) >= len(other.sources) {
		return otherSource
	}
	return h.sourceIndex(other.sources[i])
}

// disentangle lets no intervals of a key overlap, and joins those without a change.
func (h *history) disentangle() {
	slices.SortFunc(h.list, func(a, b observation) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.to, b.to), cmp.Compare(b.from, a.from))
	})
	kept := h.list[:0]
	for _, o := range h.list {
		if len(kept) == 0 || !kept[len(kept)-1].takes(&o) {
			kept = append(kept, o)
		}
	}
	h.list = kept
}

// takes decides about an observation that ends no earlier than this one. It returns true
// if there is nothing more to keep of it. What two refreshes saw changed while each knew
// the same version may be one change or two: the earlier one counts.
func (o *observation) takes(next *observation) bool {
	if next.key != o.key || next.from > o.to {
		return false
	}
	if next.to == o.to || next.changed && o.changed && next.from < o.to {
		return true
	}
	next.from = max(next.from, o.to)
	if next.changed || o.changed || next.source != o.source {
		return false
	}
	o.to = next.to
	o.looks += next.looks
	return true
}
