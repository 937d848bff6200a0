package advisor

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A content that is published at several times of day, which need not be evenly spread, is
// looked for as one that is published at a single one: the model has more of them, each of
// which explains some of the changes and would have shown in some of the intervals without
// one. They are found one after the other, each where it explains most of what those
// before have left, and then each anew, given the others.

// maxTimes is how many times of day are told apart.
const maxTimes = 6

// Times are several times of day, in order. The zero value is none; Times can be compared.
type Times struct {
	n  int
	at [maxTimes]time.Duration
}

func timesOf(all []time.Duration) Times {
	t := Times{n: min(len(all), maxTimes)}
	copy(t.at[:], all)
	slices.Sort(t.at[:t.n])
	return t
}

// All are the times since midnight; nil for none.
func (t Times) All() []time.Duration {
	if t.n == 0 {
		return nil
	}
	return slices.Clone(t.at[:t.n])
}

// String is the times as timetables have them: "07:00 11:30 21:00"; "" for none.
func (t Times) String() string {
	var texts []string
	for _, at := range t.at[:t.n] {
		texts = append(texts, fmt.Sprintf("%02d:%02d", int(at.Hours())%24, int(at.Minutes())%60))
	}
	return strings.Join(texts, " ")
}

const dayLength = 24 * time.Hour

// timesPrior is the probability beforehand of two, three and so on to maxTimes times of day
// that are at no period.
func timesPrior() []float64 { return []float64{.018, .015, .010, .005, .002} }

// dayPeriod is the day as a period that is looked for; its prior is another matter here.
func dayPeriod() periodPrior { return periodPrior{dayLength, 1440, 1} }

// timetable is the outcome of the search.
type timetable struct {
	weight float64 // logarithm, as that of phases; -Inf: there is none
	at     []time.Duration
	half   time.Duration // half of the width of the likely times, of the widest
}

// mayHaveTimetable reports whether it is worth the search: a content that changes more often
// has no timetable of so few times, and several days at least are needed to see one.
func (c *comparison) mayHaveTimetable() bool {
	perDay := c.looks.rate() * dayLength.Seconds()
	return len(c.changed) >= 2*fewChanges && perDay > 1 && perDay < 2*maxTimes && c.looks.total >= dayLength.Seconds()
}

// timetableOf finds the likeliest times of day, at least two.
func (c *comparison) timetableOf() timetable {
	best, weights := timetable{weight: math.Inf(-1)}, []float64{}
	for _, share := range scatters() {
		s := c.newSearch(max(share*dayLength.Seconds(), dayLength.Seconds()/2/1440))
		found := s.run()
		weights = append(weights, found.weight)
		if found.weight > best.weight {
			best = found
		}
	}
	best.weight = logMean(weights)
	return best
}

// search looks for times of day, of publications that lie within a scatter of them.
type search struct {
	*comparison
	ring    ring
	priors  []float64 // logarithms
	windows []span    // of the changes
	parts   [][]part  // of the windows
	missed  []float64 // by time, intervals without a change that it should have shown in
	times   []int     // that were found
}

func (c *comparison) newSearch(scatter float64) *search {
	day := dayPeriod()
	s := &search{comparison: c, ring: newRing(day), windows: c.windows(scatter)}
	s.parts = c.parts(s.windows, scatter, s.ring.period)
	for _, p := range phasePriors(day) {
		s.priors = append(s.priors, math.Log(p))
	}
	s.missed = s.ring.cover(shortened(c.unchanged, scatter), nil, false)
	return s
}

// run finds the likeliest number of times.
func (s *search) run() timetable {
	best := timetable{weight: math.Inf(-1)}
	var likeliest []int
	s.add()
	for k, prior := range timesPrior() {
		last := s.add()
		ways, _ := math.Lgamma(float64(k + 3)) // k+2 times in any order
		weight := math.Log(prior) + ways + logSum(last)
		for _, at := range s.times[:len(s.times)-1] {
			weight += s.priors[at]
		}
		if weight > best.weight {
			best.weight, likeliest = weight, slices.Clone(s.times)
		}
	}
	s.times = likeliest
	s.settle(&best)
	return best
}

// add finds one more time, and returns the log-likelihood of each in its place.
func (s *search) add() []float64 {
	likely := s.likelihoods(otherShares)
	s.times = append(s.times, slices.Index(likely, slices.Max(likely)))
	return likely
}

// settle looks for each time anew, given the others.
func (s *search) settle(found *timetable) {
	for range len(s.times) {
		s.times = slices.Delete(s.times, 0, 1)
		likely := s.likelihoods(otherShares)
		var at periodic
		(&phases{period: dayLength, weight: logSum(likely), bins: likely}).locate(&at)
		s.times = append(s.times, int(at.phase/time.Minute))
		found.at, found.half = append(found.at, at.phase), max(found.half, at.half)
	}
}

// likelihoods are, for each time of day, those of what was seen if it is one beside the
// times that were found, and of that time beforehand. Other changes come at random, at one
// of so many rates.
func (s *search) likelihoods(rates int) []float64 {
	seen, missed, cost, others := 0.0, 0.0, 0.0, slices.Clone(s.all[:rates])
	for _, at := range s.times {
		missed += s.missed[at]
	}
	var left []span
	var parts [][]part
	each := make([][]float64, rates)
	for i, w := range s.windows {
		if log, ok := s.explained(i); ok {
			seen++
			cost += log
			for r := range others {
				others[r] -= s.each[r][i]
			}
			continue
		}
		left, parts = append(left, w), append(parts, s.parts[i])
		for r := range each {
			each[r] = append(each[r], s.each[r][i])
		}
	}
	moreSeen, moreCost, more := s.ring.cover(left, nil, true), s.ring.cost(parts), make([][]float64, rates)
	for r := range more {
		more[r] = s.ring.cover(left, each[r], true)
	}
	out, logs := make([]float64, s.ring.n), make([]float64, rates)
	for b := range out {
		for r := range logs {
			logs[r] = others[r] - more[r][b]
		}
		out[b] = s.published(seen+moreSeen[b], missed+s.missed[b]) + cost + moreCost[b] + logMean(logs) + s.priors[b]
	}
	return out
}

// explained reports whether one of the times that were found lies in the window of a
// change, and the logarithm of how likely the likeliest of them made it.
func (s *search) explained(change int) (log float64, ok bool) {
	log = math.Inf(-1)
	for _, at := range s.times {
		phase := float64(at) * s.ring.step
		for _, p := range s.parts[change] {
			if p.from < p.to && math.Floor((p.to-phase)/s.ring.period) > math.Floor((p.from-phase)/s.ring.period) {
				log = max(log, p.log)
			}
		}
	}
	return log, !math.IsInf(log, -1)
}

// fewest is how many publications were seen of the time of which fewest were.
func (c *comparison) fewest(found *timetable) int {
	fewest := math.MaxInt
	for _, at := range found.at {
		fewest = min(fewest, c.instants(&periodic{period: dayLength, phase: at, half: found.half}))
	}
	return fewest
}

// evenly reports whether the times are those of a period, from a phase on.
func (t *timetable) evenly(period, phase, slack time.Duration) bool {
	if len(t.at) != int(dayLength/period) {
		return false
	}
	for _, at := range t.at {
		apart := ((at-phase)%period + period) % period
		if min(apart, period-apart) > slack {
			return false
		}
	}
	return true
}
