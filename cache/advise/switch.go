package advise

import "math"

// A content may change faster, or more slowly, from some day on: then only what was seen
// since is evidence.

const (
	// surely is how many standard deviations two rates differ by, for a switch.
	surely = 3.0
	// slower is how many days a lower rate is seen before it counts; a higher one counts
	// after one.
	slower = 7
)

// perDay are the refreshes of a day, of all keys.
type perDay struct {
	changes float64
	looked  float64 // milliseconds
}

// days counts what refreshes found, by the day of the later one.
func (past *Past) days() []perDay {
	out := make([]perDay, (past.to-past.from)/day+1)
	for _, c := range past.courses {
		for i := range c.spans {
			s := &c.spans[i]
			d := &out[(s.to-past.from)/day]
			switch s.found {
			case Changed:
				d.changes++
				d.looked += float64(s.to - s.from)
			case Unchanged:
				d.looked += float64(s.to - s.from)
			}
		}
	}
	return out
}

// switched is the day since which the rate is the present one; 0: since the beginning. It
// splits the days where their rates differ most, and the later part again (binary
// segmentation).
func switched(days []perDay) int {
	if len(days) < 2 {
		return 0
	}
	at, most := 0, surely
	for i := 1; i < len(days); i++ {
		before, after := sumOf(days[:i]), sumOf(days[i:])
		if before.looked == 0 || after.looked == 0 || after.rate() <= before.rate() && len(days)-i < slower {
			continue
		}
		scatter := max(1, scatterOf(days[:i], before), scatterOf(days[i:], after))
		if z := math.Abs(math.Log(after.rate()/before.rate())) / math.Sqrt(scatter*(1/(before.changes+0.5)+1/(after.changes+0.5))); z > most {
			at, most = i, z
		}
	}
	if at == 0 {
		return 0
	}
	return at + switched(days[at:])
}

func sumOf(days []perDay) (sum perDay) {
	for _, d := range days {
		sum.changes += d.changes
		sum.looked += d.looked
	}
	return sum
}

// rate has half a change more than was seen, so that none is no certainty.
func (d perDay) rate() float64 { return (d.changes + 0.5) / d.looked }

// scatterOf is by how much days scatter more than independent changes would.
func scatterOf(days []perDay, sum perDay) float64 {
	if len(days) < 2 || sum.changes == 0 {
		return 1
	}
	squares := 0.0
	for _, d := range days {
		if expected := sum.changes * d.looked / sum.looked; expected > 0 {
			squares += (d.changes - expected) * (d.changes - expected) / expected
		}
	}
	return squares / float64(len(days)-1)
}
