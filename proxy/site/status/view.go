package status

import "time"

// View is what a History remembers at an instant. The buckets of all its lines are of
// the same times.
type View struct {
	// HourFrom and DayFrom are when the first bucket of each hour and of each day
	// begins.
	HourFrom, DayFrom time.Time
	// Service is all endpoints together, those that are gone included.
	Service   Line
	Endpoints map[string]Line
}

// Line is the history of an endpoint, or of all: Minutes and HalfHours buckets, the
// oldest first. The last of each is not over.
type Line struct{ Hour, Day []Bucket }

// Bucket is what ended within a minute or half an hour.
type Bucket struct {
	// Known means that it was observed, at least in part.
	Known bool
	Counts
	// P95 is the duration that 95 % of the requests of a minute did not exceed, as the
	// buckets of durations tell it; 0 for none, and for half hours.
	P95 time.Duration
}

// View returns what is remembered at now. It holds nothing of the history.
func (h *History) View(now time.Time) View {
	h.mu.Lock()
	defer h.mu.Unlock()
	v := View{Endpoints: make(map[string]Line, len(h.endpoints))}
	v.Service, v.HourFrom, v.DayFrom = h.line(&h.all, now)
	for name, s := range h.endpoints {
		v.Endpoints[name], _, _ = h.line(s, now)
	}
	return v
}

func (h *History) line(s *series, now time.Time) (l Line, hourFrom, dayFrom time.Time) {
	hour, hourFrom := s.hour.last(now)
	day, dayFrom := s.day.last(now)
	return Line{h.buckets(hour), h.buckets(day)}, hourFrom, dayFrom
}

func (h *History) buckets(cells []cell) []Bucket {
	out := make([]Bucket, len(cells))
	for i := range cells {
		out[i] = Bucket{Known: cells[i].known, Counts: cells[i].Counts, P95: cells[i].took.quantile(0.95, h.bounds)}
	}
	return out
}
