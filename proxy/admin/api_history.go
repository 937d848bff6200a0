package admin

import (
	"net/http"
	"time"

	"sundry/proxy/site/status"
)

// historyView is how the requests of the last hour and of the last day have ended, on
// this instance since its start.
type historyView struct {
	Hour  timesView `json:"hour"`
	Day   timesView `json:"day"`
	Total lineView  `json:"service"`
	// Endpoints are the lines of the endpoints, by name.
	Endpoints map[string]lineView `json:"endpoints"`
}

// timesView says which times the values of all lists are of, the oldest first. The last
// of them is not over.
type timesView struct {
	From    time.Time `json:"from"` // when the first bucket begins
	Seconds int       `json:"seconds"`
	Buckets int       `json:"buckets"`
}

// lineView is the history of an endpoint, or of all.
type lineView struct {
	// State is that of the public status: works, fallback, stale, failing or unknown; "" of all.
	State string `json:"state,omitempty"`
	// Total is that of the hour.
	Total totalView `json:"total"`
	Hour  hourView  `json:"hour"`
	Day   dayView   `json:"day"`
}

// totalView are the requests of the last hour. Those that are neither cached nor fetched were refused, or are not cached.
type totalView struct {
	Requests uint64 `json:"requests"`
	Cached   uint64 `json:"cached"`
	Fetched  uint64 `json:"fetched"`
	Stale    uint64 `json:"stale"`
	Errors   uint64 `json:"errors"`
}

// hourView has a value for each minute: null where nothing was observed.
type hourView struct {
	Requests []*uint64 `json:"requests"`
	// Errors are the requests that failed although nothing was wrong with them.
	Errors []*uint64 `json:"errors"`
	// HitRatio is 0 to 1 of the requests that were answered from the cache, fetched, or failed; null also without any.
	HitRatio []*float64 `json:"hit_ratio"`
	// P95 is in milliseconds, and null also without requests.
	P95 []*float64 `json:"p95_ms"`
}

// dayView has a value for each half hour: null where nothing was observed.
type dayView struct {
	Requests []*uint64 `json:"requests"`
	Works    []*uint64 `json:"works"`
	Stale    []*uint64 `json:"stale"`
	Failing  []*uint64 `json:"failing"`
}

// history lists the hour and the day.
func (a *api) history(*http.Request) (any, error) {
	all := a.History()
	v := historyView{
		Hour:  timesView{all.HourFrom, int(status.Minute.Seconds()), status.Minutes},
		Day:   timesView{all.DayFrom, int(status.HalfHour.Seconds()), status.HalfHours},
		Total: lineViewOf(&all.Service), Endpoints: make(map[string]lineView, len(all.Endpoints)),
	}
	report := a.Status()
	for i := range report.Endpoints {
		e := &report.Endpoints[i]
		line := all.Endpoints[e.Name]
		of := lineViewOf(&line)
		of.State = e.State.String()
		v.Endpoints[e.Name] = of
	}
	return v, nil
}

func lineViewOf(l *status.Line) lineView {
	var sum status.Counts
	for i := range l.Hour {
		sum.Add(&l.Hour[i].Counts)
	}
	return lineView{
		Total: totalView{sum.Requests, sum.Cached, sum.Fetched, sum.Stale, sum.Failing},
		Hour: hourView{
			Requests: valuesOf(l.Hour, func(b *status.Bucket) (uint64, bool) { return b.Requests, true }),
			Errors:   valuesOf(l.Hour, func(b *status.Bucket) (uint64, bool) { return b.Failing, true }),
			HitRatio: valuesOf(l.Hour, func(b *status.Bucket) (float64, bool) { return b.HitRatio() }),
			P95: valuesOf(l.Hour, func(b *status.Bucket) (float64, bool) {
				return float64(b.P95.Microseconds()) / 1000, b.Requests > 0
			}),
		},
		Day: dayView{
			Requests: valuesOf(l.Day, func(b *status.Bucket) (uint64, bool) { return b.Requests, true }),
			Works:    valuesOf(l.Day, func(b *status.Bucket) (uint64, bool) { return b.Works, true }),
			Stale:    valuesOf(l.Day, func(b *status.Bucket) (uint64, bool) { return b.Stale, true }),
			Failing:  valuesOf(l.Day, func(b *status.Bucket) (uint64, bool) { return b.Failing, true }),
		},
	}
}

// valuesOf lists a value of each bucket; nil where it has none, or nothing was observed.
func valuesOf[T any](buckets []status.Bucket, value func(*status.Bucket) (T, bool)) []*T {
	out := make([]*T, len(buckets))
	for i := range buckets {
		if v, ok := value(&buckets[i]); ok && buckets[i].Known {
			out[i] = &v
		}
	}
	return out
}
