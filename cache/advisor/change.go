package advisor

import (
	"fmt"
	"math"
	"time"
)

// Kind is what is known of how a content changes.
type Kind string

// The kinds.
const (
	// Unknown: too little was seen.
	Unknown Kind = "unknown"
	// Unchanged: many refreshes, and none found a change.
	Unchanged Kind = "unchanged"
	// Always: every refresh found a change, so it changes more often than it is
	// refreshed; how often is not known.
	Always Kind = "always"
	// Periodic: it changes at a period, at the same time of the hour, day or week.
	Periodic Kind = "periodic"
	// Random: it changes at random, at a rate.
	Random Kind = "random"
	// Undecided: the mean interval is known, but not whether it is a period.
	Undecided Kind = "undecided"
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Unknown, Unchanged, Always, Periodic, Random, Undecided} }

// Change is how often the content of a key changes, as far as refreshes have shown.
type Change struct {
	Kind Kind
	// Probable means that a period is likely, but not certain: that it was seen once,
	// or that it might be chance.
	Probable bool
	// Interval is the mean time between changes: the period of a periodic content; 0:
	// not known.
	Interval time.Duration
	// Low and High bound the mean interval with a probability of 95 %. High is 0
	// without an upper bound. A period is exact.
	Low, High time.Duration
	// Phase of a period: since the beginning of the hour, the day or the week (Monday)
	// in Zone. PhaseError is how far it may be off.
	Phase, PhaseError time.Duration
	Zone              string
	// Times of day at which it changes, where there are several that are at no period:
	// Interval is the mean between them then, and Phase the first.
	Times Times
	// Refreshes that were seen, how many of them found a change, and since when.
	Refreshes, Changes int
	Since              time.Time
}

// What is asked before something is said.
const (
	// fewRefreshes without a change say nothing.
	fewRefreshes = 10
	// fewChanges are too few to call them random.
	fewChanges = 4
	// certain and probable are the probabilities from which a period is named.
	certain, probable = 0.95, 0.6
	// surelyRandom is the probability from which no period is assumed.
	surelyRandom = 0.8
)

// changeOf estimates how a content changes.
func changeOf(list []observation, zone *time.Location) Change {
	l := looksOf(list, nil)
	c := Change{Kind: Unknown, Zone: zone.String(), Refreshes: l.n, Changes: len(l.changed)}
	if l.n == 0 {
		return c
	}
	c.Since = time.UnixMilli(list[0].from)
	low, high := l.bounds()
	c.Low, c.High = intervalOf(high), intervalOf(low)
	if c.Changes == 0 {
		if l.n >= fewRefreshes {
			c.Kind = Unchanged
		}
		return c
	}
	p := compare(list, zone)
	switch {
	case p.probability >= probable:
		c.periodic(&p)
	case c.Changes == l.n:
		if c.Changes >= fewChanges {
			c.Kind = Always
		}
	case p.random >= surelyRandom && c.Changes >= fewChanges:
		c.Kind, c.Interval = Random, intervalOf(l.rate())
	default:
		c.Kind, c.Interval = Undecided, intervalOf(l.rate())
	}
	return c
}

func (c *Change) periodic(p *periodic) {
	c.Kind, c.Interval, c.Low, c.High = Periodic, p.period, p.period, p.period
	c.Phase, c.PhaseError = p.phase, p.half
	enough := 3
	if p.period >= 24*time.Hour {
		enough = 2
	}
	if p.times != nil {
		c.Times = timesOf(p.times)
		c.Phase, c.Interval = c.Times.at[0], dayLength/time.Duration(c.Times.n)
		c.Low, c.High = c.Interval, c.Interval
	}
	c.Probable = p.probability < certain || p.instants < enough
}

// intervalOf is the mean interval of a rate; 0 for rates that have none.
func intervalOf(rate float64) time.Duration {
	if rate <= 0 || math.IsInf(rate, 1) || 1/rate > math.MaxInt64/1e9 {
		return 0
	}
	return time.Duration(1e9 / rate)
}

// rate is the changes per second to reckon with, and whether one is known. Where no
// change was seen it is the highest that is likely.
func (c *Change) rate() (perSecond float64, known bool) {
	switch {
	case c.Interval > 0:
		return 1 / c.Interval.Seconds(), true
	case c.Kind == Unchanged && c.Low > 0:
		return 1 / c.Low.Seconds(), true
	}
	return 0, false
}

// daily are the times of day of a content that is published once to maxTimes times a day;
// none of any other.
func (c *Change) daily() Times {
	switch {
	case c.Kind != Periodic:
	case c.Times.n > 0:
		return c.Times
	case c.Interval <= dayLength && c.Interval >= dayLength/maxTimes && dayLength%c.Interval == 0:
		var all []time.Duration
		for at := c.Phase % c.Interval; at < dayLength; at += c.Interval {
			all = append(all, at)
		}
		return timesOf(all)
	}
	return Times{}
}

// At is the phase as people write it: "06:00", "07:00 11:30 21:00", "Monday 06:00", "minute 30";
// "" if the content is not periodic.
func (c *Change) At() string {
	if c.Kind != Periodic {
		return ""
	}
	if several := c.daily(); several.n > 1 {
		return several.String()
	}
	minutes := int(c.Phase / time.Minute)
	clock := fmt.Sprintf("%02d:%02d", minutes/60%24, minutes%60)
	switch {
	case c.Interval > 24*time.Hour:
		return fmt.Sprintf("%s %s", time.Weekday((minutes/60/24+1)%7), clock)
	case c.Interval > time.Hour:
		return clock
	}
	return fmt.Sprintf("minute %d", minutes)
}

// SourceChange is how the content of one source changes.
type SourceChange struct {
	Source string
	Change Change
}

// fewOfSource is how many refreshes of a source are too few to tell it from others.
const fewOfSource = 10

// chiSquared is the quantile of 99 % by degrees of freedom less one.
func chiSquared(freedom int) float64 {
	return [...]float64{6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09}[min(freedom, 8)-1]
}

// changesOfSources are the estimates of each source, if they differ by more than chance.
func changesOfSources(list []observation, names []string, zone *time.Location) []SourceChange {
	var each []SourceChange
	pooled, apart := looks{}, 0.0
	for i, name := range names {
		own := looksOf(list, func(o *observation) bool { return int(o.source) == i })
		if own.n < fewOfSource {
			continue
		}
		apart += own.best()
		pooled.changed = append(pooled.changed, own.changed...)
		pooled.unchanged += own.unchanged
		each = append(each, SourceChange{Source: name})
	}
	if len(each) < 2 || 2*(apart-pooled.best()) < chiSquared(len(each)-1) {
		return nil
	}
	for i := range each {
		each[i].Change = changeOf(ofSource(list, names, each[i].Source), zone)
	}
	return each
}

func ofSource(list []observation, names []string, name string) []observation {
	var own []observation
	for _, o := range list {
		if int(o.source) < len(names) && names[o.source] == name {
			own = append(own, o)
		}
	}
	return own
}
