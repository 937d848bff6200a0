package status

// Shares are how the requests of a time ended, in percent; together they are 100, or
// all are 0 where nothing is known. What occurred at all has at least the smallest share
// that can be shown.
type Shares struct {
	Works   float64 `json:"works"`
	Stale   float64 `json:"stale"`
	Failing float64 `json:"failing"`
}

// Bar is how the requests of half an hour, or of a day, ended, in tenths; together they are 10, or all
// are 0 where nothing is known.
type Bar struct{ Works, Stale, Failing int }

// Known reports whether the bar shows anything.
func (b Bar) Known() bool { return b != Bar{} }

// State of the requests of the bar.
func (b Bar) State() State {
	return stateOf(Tally{uint64(b.Works), uint64(b.Stale), uint64(b.Failing)})
}

func sharesOf(t Tally) Shares {
	p := parts(t, 1000)
	return Shares{float64(p[0]) / 10, float64(p[1]) / 10, float64(p[2]) / 10}
}

func barOf(t Tally) Bar {
	p := parts(t, 10)
	return Bar{p[0], p[1], p[2]}
}

// visible is the share of the requests of a day, one in so many, that its bar shows. Less than that
// is told in words: else each day of an endpoint that many ask would look like one with trouble.
const visible = 100

func dayBarOf(t Tally) Bar {
	judged := t.judged()
	for i, n := range t {
		if n*visible < judged {
			t[i] = 0
		}
	}
	return barOf(t)
}

// parts divides a whole of that many parts as the requests that worked, got a stale
// answer, and failed. What occurred has at least one, at the expense of the largest.
func parts(counts Tally, whole int) [3]int {
	judged := counts.judged()
	var out [3]int
	if judged == 0 {
		return out
	}
	left, largest := whole, 0
	for i, n := range counts {
		if n == 0 {
			continue
		}
		out[i] = max(1, int(float64(n)/float64(judged)*float64(whole)))
		left -= out[i]
		if n > counts[largest] {
			largest = i
		}
	}
	out[largest] += left
	return out
}
