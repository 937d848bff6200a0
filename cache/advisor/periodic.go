package advisor

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A publication at a period is told from changes at random by comparing how likely both
// make what was seen. The random model has a rate, all magnitudes of which are taken for
// equally likely beforehand. A periodic one has a period from a list, a phase, of which
// round ones are likelier beforehand, a scatter of the publication around it, a
// probability that a publication brings something new, and other changes at random beside
// them. All that is not known is averaged over, so that the model with more freedom is
// not preferred for it.

// periodPrior is a period that is looked for.
type periodPrior struct {
	period time.Duration
	bins   int     // phases that are compared
	prior  float64 // before anything was seen; with randomPrior they add up to 1
}

const randomPrior = 0.45

// periods are those that are looked for; see timesPrior for what is missing.
func periods() []periodPrior {
	const day = 24 * time.Hour
	return []periodPrior{
		{5 * time.Minute, 60, .01}, {10 * time.Minute, 60, .02}, {15 * time.Minute, 60, .02}, {20 * time.Minute, 60, .01},
		{30 * time.Minute, 60, .05}, {time.Hour, 60, .09}, {2 * time.Hour, 120, .01}, {3 * time.Hour, 180, .01},
		{4 * time.Hour, 240, .01}, {6 * time.Hour, 360, .02}, {8 * time.Hour, 480, .01}, {12 * time.Hour, 720, .02},
		{day, 1440, .18}, {7 * day, 2016, .04},
	}
}

// hits and misses are those of imagined publications that brought something new or not:
// most do.
const hits, misses = 9, 1

// scatters are how far publications may be from their phase, as shares of the period.
func scatters() []float64 { return []float64{0, 1.0 / 200, 1.0 / 40} }

// periodic is the outcome of the comparison.
type periodic struct {
	probability float64 // of the periodic model of this period and phase
	random      float64 // probability of the random model
	period      time.Duration
	phase       time.Duration   // since the beginning of the hour, day or week
	instants    int             // publications that were seen
	half        time.Duration   // half of the width of the likely phases
	times       []time.Duration // several of the day, in the place of the period; nil: none
}

// span is an interval in seconds of local time, from Monday 1970-01-05 on.
type span struct{ from, to float64 }

// monday is the first one, in seconds after the epoch.
const monday = 4 * 24 * 60 * 60

func spanOf(o *observation, zone *time.Location) span {
	return span{localSeconds(o.from, zone), localSeconds(o.to, zone)}
}

func localSeconds(ms int64, zone *time.Location) float64 {
	_, offset := time.UnixMilli(ms).In(zone).Zone()
	return float64(ms)/1000 + float64(offset) - monday
}

// comparison compares the models for one set of observations.
type comparison struct {
	changed, unchanged []span
	keys               []mark // of the changed ones, by which they are sorted
	looks              looks
	// weight is that of each observation: less than one where the changes of several keys
	// may be one change of a content that they have in common.
	weight float64
	// Of each rate that is averaged over: what each change at random and all of them
	// together with the times without contribute to the log-likelihood.
	each [][]float64
	all  []float64
}

// shares are the rates that are averaged over, as shares of the one that is likeliest if
// all changes come at random. The smallest stand for none at all.
func shares() []float64 {
	return []float64{1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1, 1.2, 1.6}
}

// otherShares is how many of the shares are taken into account for changes beside the
// publications: a content that mostly changes at random is not called periodic.
const otherShares = 8

func compare(list []observation, zone *time.Location) periodic {
	list = slices.SortedStableFunc(slices.Values(list), func(a, b observation) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.from, b.from))
	})
	c := &comparison{looks: looksOf(list, nil)}
	for i := range list {
		if s := spanOf(&list[i], zone); list[i].changed {
			c.changed, c.keys = append(c.changed, s), append(c.keys, list[i].key)
		} else {
			c.unchanged = append(c.unchanged, s)
		}
	}
	if len(c.changed) == 0 {
		return periodic{random: 1}
	}
	c.weight = float64(fewestInstants(c.changed)) / float64(len(c.changed))
	rate := c.looks.rate()
	for _, share := range shares() {
		c.addRate(share * rate)
	}
	return c.run()
}

// fewestInstants is the least number of instants of which each interval holds one. An
// interval does not hold its beginning.
func fewestInstants(intervals []span) int {
	n, last := 0, math.Inf(-1)
	for _, s := range slices.SortedFunc(slices.Values(intervals), func(a, b span) int { return cmp.Compare(a.to, b.to) }) {
		if s.from >= last {
			n, last = n+1, s.to
		}
	}
	return n
}

func (c *comparison) addRate(rate float64) {
	each, all := make([]float64, len(c.changed)), -rate*c.looks.unchanged*c.weight
	for i, s := range c.changed {
		each[i] = math.Log(-math.Expm1(-rate*(s.to-s.from))) * c.weight
		all += each[i]
	}
	c.each, c.all = append(c.each, each), append(c.all, all)
}

func (c *comparison) run() periodic {
	random := math.Log(randomPrior) + logMean(c.all)
	all := []float64{random}
	var best phases
	for _, p := range periods() {
		if c.looks.total < p.period.Seconds()*0.9 {
			continue
		}
		got := c.phasesOf(p)
		all = append(all, got.weight)
		if best.bins == nil || got.weight > best.weight {
			best = got
		}
	}
	several := timetable{weight: math.Inf(-1)} // there is none
	if c.mayHaveTimetable() {
		several = c.timetableOf()
		all = append(all, several.weight)
	}
	sum := logSum(all)
	out := periodic{random: math.Exp(random - sum)}
	if best.bins != nil {
		out.probability, out.period = math.Exp(best.weight-sum), best.period
		best.locate(&out)
		out.instants = c.instants(&out)
	}
	alike := best.bins != nil && several.evenly(out.period, out.phase, out.half+several.half)
	switch {
	case alike:
		out.probability += math.Exp(several.weight - sum)
	case best.bins == nil || several.weight > best.weight:
		out.probability, out.period, out.times, out.half = math.Exp(several.weight-sum), dayLength, several.at, several.half
		out.instants = c.fewest(&several)
	}
	return out
}

// logSum is the logarithm of the sum of what these are the logarithms of.
func logSum(logs []float64) float64 {
	top := slices.Max(logs)
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l - top)
	}
	return top + math.Log(sum)
}

func logMean(logs []float64) float64 { return logSum(logs) - math.Log(float64(len(logs))) }

// phases are the weights of the phases of a period.
type phases struct {
	period time.Duration
	weight float64   // logarithm, of all phases together
	bins   []float64 // logarithm, of each
}

func (c *comparison) phasesOf(p periodPrior) phases {
	priors := phasePriors(p)
	out := phases{period: p.period, bins: make([]float64, p.bins)}
	perScatter := make([][]float64, len(scatters()))
	for i, share := range scatters() {
		perScatter[i] = c.phaseLikelihoods(p, max(share*p.period.Seconds(), p.period.Seconds()/float64(2*p.bins)))
	}
	logs := make([]float64, len(perScatter))
	for b := range out.bins {
		for i := range perScatter {
			logs[i] = perScatter[i][b]
		}
		out.bins[b] = logMean(logs) + math.Log(p.prior*priors[b])
	}
	out.weight = logSum(out.bins)
	return out
}

// phaseLikelihoods is the log-likelihood of each phase, with publications that lie within
// a scatter of it.
func (c *comparison) phaseLikelihoods(p periodPrior, scatter float64) []float64 {
	ring, windows := newRing(p), c.windows(scatter)
	seen, cost := ring.cover(windows, nil, true), ring.cost(c.parts(windows, scatter, ring.period))
	missed := ring.cover(shortened(c.unchanged, scatter), nil, false)
	explained := make([][]float64, otherShares)
	for i := range explained {
		explained[i] = ring.cover(windows, c.each[i], true)
	}
	out, others := make([]float64, p.bins), make([]float64, otherShares)
	for b := range out {
		for i := range others {
			others[i] = c.all[i] - explained[i][b]
		}
		out[b] = c.published(seen[b], missed[b]) + cost[b] + logMean(others)
	}
	return out
}

// published is the log-likelihood that so many publications brought something new, and so
// many did not.
func (c *comparison) published(seen, missed float64) float64 {
	return logBeta(hits+c.weight*seen, misses+c.weight*missed) - logBeta(hits, misses)
}

// part is a part of the window of a change: of phases from which a publication, which lies
// anywhere within a scatter of its phase, falls into the interval of the change with about
// the same probability.
type part struct {
	span
	log float64 // of that probability
}

// edgeParts is into how many parts the edges of windows are divided, where the probability
// rises and falls.
const edgeParts = 4

// parts are those of each window.
func (c *comparison) parts(windows []span, scatter, period float64) [][]part {
	out := make([][]part, len(windows))
	for i, w := range windows {
		length := c.changed[i].to - c.changed[i].from
		most := min(1, length/(2*scatter))
		if w.to-w.from >= period {
			out[i] = []part{{w, c.weight * math.Log(most)}}
			continue
		}
		edge := min(length, 2*scatter) / edgeParts
		from, to := c.changed[i].from-scatter, c.changed[i].to+scatter
		for k := range edgeParts {
			log, inner, outer := c.weight*math.Log(most*(float64(k)+0.5)/edgeParts), float64(k+1)*edge, float64(k)*edge
			out[i] = append(out[i], part{w.and(span{from + outer, from + inner}), log}, part{w.and(span{to - inner, to - outer}), log})
		}
		out[i] = append(out[i], part{w.and(span{from + edgeParts*edge, to - edgeParts*edge}), c.weight * math.Log(most)})
	}
	return out
}

// and is what both spans hold; it ends before it begins if that is nothing.
func (s span) and(t span) span { return span{max(s.from, t.from), min(s.to, t.to)} }

// windows are the phases that may have made each change: those of its interval, and a
// scatter more. A publication makes one change of a key: where two might be its work,
// each gets half.
func (c *comparison) windows(scatter float64) []span {
	out := make([]span, len(c.changed))
	for i, s := range c.changed {
		out[i] = span{s.from - scatter, s.to + scatter}
		if i > 0 && c.keys[i] == c.keys[i-1] && out[i-1].to > out[i].from {
			middle := (out[i-1].to + out[i].from) / 2
			out[i-1].to, out[i].from = middle, middle
		}
	}
	return out
}

// shortened cuts spans at both ends; what has no length left is left out.
func shortened(spans []span, by float64) []span {
	var out []span
	for _, s := range spans {
		if s.to-s.from > 2*by {
			out = append(out, span{s.from + by, s.to - by})
		}
	}
	return out
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

// phasePriors are how likely phases are beforehand: publications are at full hours more
// often than at half ones, and there more often than at any minute. They add up to 1.
func phasePriors(p periodPrior) []float64 {
	out := make([]float64, p.bins)
	step := p.period / time.Duration(p.bins)
	sum := 0.0
	for b := range out {
		out[b] = roundness(time.Duration(b) * step)
		sum += out[b]
	}
	for b := range out {
		out[b] /= sum
	}
	return out
}

// roundness is how much likelier such a phase is than any minute.
func roundness(phase time.Duration) float64 {
	switch {
	case phase%time.Hour == 0:
		return 150
	case phase%(30*time.Minute) == 0:
		return 45
	case phase%(10*time.Minute) == 0 || phase%(15*time.Minute) == 0:
		return 8
	case phase%(5*time.Minute) == 0:
		return 4
	}
	return 1
}

// locate finds the likeliest phase, and the width of those that are likely.
func (p *phases) locate(out *periodic) {
	best, weights := 0, make([]float64, len(p.bins))
	for b, l := range p.bins {
		if weights[b] = math.Exp(l - p.weight); weights[b] > weights[best] {
			best = b
		}
	}
	step := p.period / time.Duration(len(p.bins))
	out.phase = time.Duration(best) * step
	sum, reach := weights[best], 0
	for sum < 0.9 && 2*reach+1 < len(weights) {
		reach++
		sum += weights[(best+reach)%len(weights)] + weights[(best-reach+len(weights))%len(weights)]
	}
	out.half = time.Duration(reach)*step + step/2
}

// instants counts the publications that changed intervals tell apart.
func (c *comparison) instants(p *periodic) int {
	period, phase := p.period.Seconds(), p.phase.Seconds()
	slack := max(p.half.Seconds(), period/40)
	seen := map[int64]bool{}
	for _, s := range c.changed {
		if s.to-s.from >= period {
			continue
		}
		if k := math.Floor((s.to + slack - phase) / period); phase+k*period >= s.from-slack {
			seen[int64(k)] = true
		}
	}
	return len(seen)
}
