package advise_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"sundry/cache/advise"
	"sundry/cache/policy"
	"sundry/metrics/words"
)

// Target of all advice that is judged.
const Target = 0.02

// Chance is what the days after may add to a target: as much as what counts as right.
const Chance = 0.01

// Verdict is what is right of what was said of a world.
type Verdict struct {
	Old, Calls, Bands bool
	// Seer is whether the old share would be right for who had seen each change and each
	// request while the world was observed, and took it that things go on like that: what
	// is not right for the seer either, came about by chance or because things changed.
	Seer bool
	// Advised is the TTL; 0: none, and Reached whether there is one that meets the target.
	Advised  time.Duration
	Reached  bool
	Within   bool          // the advised TTL keeps the target, but for chance
	Strictly bool          // without
	Best     time.Duration // the longest TTL that keeps it, by brute force
	Wrong    []string
	Reason   words.Text
	Edition  *advise.Edition
}

// Factors of the present TTL at which predictions are judged.
func Factors() []float64 { return []float64{0.25, 0.5, 1, 2, 4} }

// Policy of a world under a TTL.
func (w *World) Policy(ttl time.Duration) *policy.Policy {
	return &policy.Policy{TTL: ttl, Grace: w.Grace, Jitter: policy.DefaultJitter, Eager: policy.DefaultEager}
}

// noted is what all instances have noted, or one alone.
type noted struct {
	seen *advise.Seen
	only int // the instance; -1: all
}

// Request implements Notes.
func (n noted) Request(instance, key int, at time.Time, weight int, ttl time.Duration) {
	if n.only < 0 || n.only == instance {
		n.seen.Request(uint32(key), at, weight, ttl)
	}
}

// Refresh implements Notes.
func (n noted) Refresh(instance, key int, at time.Time, age time.Duration, found Found) {
	if n.only < 0 || n.only == instance {
		n.seen.Refresh(uint32(key), at, age, map[Found]advise.Outcome{Unknown: advise.First, Same: advise.Unchanged, Another: advise.Changed}[found])
	}
}

// Who has noted what an advice rests on.
const (
	All   = -1 // all instances
	First = 0  // the first one alone
)

// Seen is what was seen of a world while it was observed.
func (s *Story) Seen(by int) *advise.Seen {
	seen := &advise.Seen{}
	s.Play(s.TTL, 0, s.Observe, noted{seen, by})
	return seen
}

// Judge compares what is said of a world with what happens after: old share and calls with
// the mean over some futures, of which the first goes on from what was seen and the others
// are drawn anew, so that it is not the luck of one that judges; bands and the advised TTL
// with the first one.
func (w *World) Judge(seed uint64, by, futures int) *Verdict {
	end := w.Observe + w.after()
	f := []*Story{w.Tell(seed, end)}
	for i := 1; i < futures; i++ {
		f = append(f, w.Tell(seed+uint64(i)*1_000_003, end))
	}
	s := f[0]
	past := s.Seen(by).Past()
	v := &Verdict{Old: true, Calls: true, Bands: true, Seer: true}
	for _, factor := range Factors() {
		ttl := time.Duration(float64(w.TTL) * factor)
		is, mean := s.playAfter(ttl), meanAfter(f, ttl)
		v.compare(past.Rule(w.Policy(ttl)), is, mean)
		v.Seer = v.Seer && right(s.Play(ttl, 0, s.Observe, nil).Older, mean.Older)
	}
	a := past.Advise(w.Policy(w.TTL), advise.Ladder(w.TTL), advise.Target{Old: Target})
	v.Advised, v.Reason, v.Edition = a.TTL, a.Reason, a.Edition
	v.Best = s.best(a.Rules)
	v.Reached = v.Best > 0
	if a.TTL > 0 {
		old := s.playAfter(a.TTL).Older
		v.Within, v.Strictly = old <= Target+Chance, old <= Target
		if !v.Within {
			v.Wrong = append(v.Wrong, fmt.Sprintf("advised %v: %.4f old", a.TTL, old))
		}
	}
	return v
}

// after is how long the time is that a world is judged by.
func (w *World) after() time.Duration { return cmp.Or(w.After, 2*w.Observe) }

// playAfter plays what comes after the time of observation.
func (s *Story) playAfter(ttl time.Duration) Outcome {
	return s.Play(ttl, s.Observe, s.Observe+s.after(), nil)
}

func meanAfter(futures []*Story, ttl time.Duration) (mean Outcome) {
	for _, s := range futures {
		is := s.playAfter(ttl)
		mean.Older += is.Older / float64(len(futures))
		mean.PerHour += is.PerHour / float64(len(futures))
	}
	return mean
}

// best is the longest TTL of the rules that keeps the target; 0: none does.
func (s *Story) best(rules []advise.Rule) time.Duration {
	for _, r := range slices.Backward(rules) {
		if s.playAfter(r.TTL).Older <= Target {
			return r.TTL
		}
	}
	return 0
}

// compare one rule: the old share within a point or a quarter, or, where nobody knows how
// fast contents change, within the band; calls within a tenth. A band has a tenth of a point
// for chance.
func (v *Verdict) compare(said advise.Rule, is, mean Outcome) {
	band := said.OlderLow <= is.Older+0.001 && is.Older <= said.OlderHigh+0.001
	old := right(said.Older, mean.Older) || said.AtMost && band
	calls := math.Abs(said.Calls-mean.PerHour) <= max(mean.PerHour/10, 1.0/24)
	v.Old, v.Calls, v.Bands = v.Old && old, v.Calls && calls, v.Bands && band
	if !old || !band || !calls {
		v.Wrong = append(v.Wrong, fmt.Sprintf("TTL %v: said %.4f (%.4f to %.4f), is %.4f, in the mean %.4f; calls %.3g, are %.3g", said.TTL, said.Older, said.OlderLow, said.OlderHigh, is.Older, mean.Older, said.Calls, mean.PerHour))
	}
}

// right is within a point, or a quarter.
func right(said, is float64) bool { return math.Abs(said-is) <= max(0.01, is/4) }

// Loop is how a controller fares.
type Loop struct {
	TTL     time.Duration // at the end
	Older   float64       // in the two weeks after
	Reached bool          // there is a TTL that keeps the target
	Within  bool          // one and a half times the target
	Wrong   []string      // steps up while more than twice the target were old
	Steps   int
}

// String is a row of a table.
func (l *Loop) String() string {
	note := ""
	switch {
	case !l.Reached:
		note = "  cannot be reached"
	case !l.Within:
		note = "  too old"
	}
	return fmt.Sprintf("%9v %5.1f%% %6d%s", l.TTL.Round(time.Second), l.Older*100, l.Steps, note)
}

// Control lets the controller alone for two weeks, looking four times a day, and judges it
// by the two weeks after.
func (w *World) Control(seed uint64) *Loop {
	const half, look = 2 * week, 6 * hour
	s := w.Tell(seed, 2*half)
	l, set, seen := &Loop{TTL: w.TTL}, time.Duration(0), &advise.Seen{}
	for at := look; at <= half; at += look {
		s.Play(l.TTL, at-look, at, noted{seen, All})
		ttl, _ := advise.Step(seen.Past(), w.Policy(l.TTL), advise.Target{Old: Target}, Epoch().Add(set), Epoch().Add(at))
		if ttl == l.TTL {
			continue
		}
		if old := s.Play(l.TTL, set, at, nil).Older; ttl > l.TTL && old > 2*Target {
			l.Wrong = append(l.Wrong, fmt.Sprintf("from %v to %v while %.4f were old", l.TTL, ttl, old))
		}
		l.TTL, set, seen = ttl, at, &advise.Seen{}
		l.Steps++
	}
	l.Older = s.Play(l.TTL, half, 2*half, nil).Older
	l.Within = l.Older <= 1.5*Target
	for ttl := w.TTL; ttl >= time.Second && !l.Reached; ttl /= 2 {
		l.Reached = s.Play(ttl, half, 2*half, nil).Older <= Target
	}
	return l
}
