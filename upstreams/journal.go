package upstreams

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sundry/upstreams/lib/redact"
)

// Bounds of the journal.
const (
	recentPerSource = 60
	recentFailures  = 100
	answerMinutes   = 60
	errorMax        = 300 // bytes of an error's text
)

// Record is an attempt as the journal keeps it.
type Record struct {
	ID               uint64
	At               time.Time
	Endpoint, Source string // as declared
	Result           string // "success" or the name of an ErrorKind
	Took             time.Duration
	Err              string         // for operators, without Source and Result; it holds no URL and no secret
	Params           map[string]any // nil where they are personal
	Private          bool
	// Cut means that Params lack what stood behind a link's host.
	Cut bool
}

// Failed reports whether it counts against the source: what a caller sent does not.
func (r *Record) Failed() bool {
	switch r.Result {
	case "success", Invalid.String(), Forbidden.String(), Negative.String(), Throttled.String():
		return false
	}
	return true
}

// Journal remembers the last attempts of every source, and the last that
// failed, for operators to look at. The zero value is empty and ready.
type Journal struct {
	mu       sync.Mutex
	last     uint64
	bySource map[sourceID]*sourceRecords
	failed   ring
}

// sourceRecords are the last attempts of a source, and how many answers it gave in each of the last minutes.
type sourceRecords struct {
	recent  ring
	failure Record // the last; the zero value: none
	answers [answerMinutes]struct {
		minute int64 // since 1970
		n      int
	}
}

func (s *sourceRecords) answered(at time.Time) {
	minute := at.Unix() / 60
	slot := &s.answers[minute%answerMinutes]
	if slot.minute != minute {
		slot.minute, slot.n = minute, 0
	}
	slot.n++
}

// sourceID is an endpoint and the declared name of one of its sources.
type sourceID struct{ endpoint, source string }

// ring keeps the last records, up to a number.
type ring struct {
	records []Record
	next    int
}

func (r *ring) add(rec Record, most int) {
	if len(r.records) < most {
		r.records = append(r.records, rec)
		return
	}
	r.records[r.next] = rec
	r.next = (r.next + 1) % most
}

// last is the result of the latest record; "" without any.
func (r *ring) last() string {
	if len(r.records) == 0 {
		return ""
	}
	return r.records[(r.next+len(r.records)-1)%len(r.records)].Result
}

// all lists the records, oldest first.
func (r *ring) all() []Record {
	out := make([]Record, 0, len(r.records))
	out = append(out, r.records[r.next:]...)
	return append(out, r.records[:r.next]...)
}

// add records an attempt. One of a source that was skipped is left out.
func (j *Journal) add(n Record) {
	if n.Result == Skipped.String() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bySource == nil {
		j.bySource = map[sourceID]*sourceRecords{}
	}
	j.last++
	n.ID = j.last
	id := sourceID{n.Endpoint, n.Source}
	of := j.bySource[id]
	if of == nil {
		of = &sourceRecords{}
		j.bySource[id] = of
	}
	if n.Result == "success" || n.Result == Negative.String() {
		of.answered(n.At)
	}
	again := of.recent.last() == n.Result
	if n.Result == Throttled.String() && again {
		return // the first says so; the others would drive out the calls that were made
	}
	of.recent.add(n, recentPerSource)
	// The first call that an open breaker rejects says so; the others would
	// drive out what opened it.
	if n.Failed() && (n.Result != Rejected.String() || of.failure.ID == 0) {
		of.failure = n
	}
	if n.Failed() && (n.Result != Rejected.String() || !again) {
		j.failed.add(n, recentFailures)
	}
}

// Note records a request to the host of an API, which has no parameters to be made again with; err is nil for a success.
func (j *Journal) Note(api, host, result string, took time.Duration, err error) {
	n := Record{At: time.Now().Add(-took), Endpoint: api, Source: host, Result: result, Took: took, Cut: true}
	if err != nil {
		n.Err = redact.Truncate(strings.TrimPrefix(err.Error(), result+": "), errorMax)
	}
	j.add(n)
}

// Recent lists the last attempts of a source, oldest first.
func (j *Journal) Recent(endpoint, source string) []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	if of := j.bySource[sourceID{endpoint, source}]; of != nil {
		return of.recent.all()
	}
	return nil
}

// Answers counts the answers of a source in the hour up to now, negative ones included.
func (j *Journal) Answers(endpoint, source string, now time.Time) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.bySource[sourceID{endpoint, source}]
	if of == nil {
		return 0
	}
	for _, slot := range of.answers {
		if slot.minute > now.Unix()/60-answerMinutes {
			n += slot.n
		}
	}
	return n
}

// LastFailure is the last attempt of a source that failed: what opened a breaker, not what that rejects since then. False:
// none has.
func (j *Journal) LastFailure(endpoint, source string) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := j.bySource[sourceID{endpoint, source}]
	if of == nil || of.failure.ID == 0 {
		return Record{}, false
	}
	return of.failure, true
}

// Failures lists the last attempts that failed, and the last of each source that has failed before them, oldest first.
func (j *Journal) Failures() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	latest := j.failed.all()
	var before []Record
	for _, of := range j.bySource {
		if of.failure.ID != 0 && of.failure.ID < latest[0].ID {
			before = append(before, of.failure)
		}
	}
	slices.SortFunc(before, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	return append(before, latest...)
}

// record is an attempt on its way into the journal.
func (s *Source) record(call *Call, start time.Time, took time.Duration, result string, err error) Record {
	n := Record{At: start, Endpoint: s.endpoint, Source: s.Declared, Result: result, Took: took, Private: call.Private}
	if err != nil {
		n.Err = redact.Truncate(CauseOf(err), errorMax)
	}
	if !call.Private {
		n.Params, n.Cut = shortenLinks(call.Params)
	}
	return n
}

// CauseOf is what a failure came from, without the source and the kind that its record has beside it.
func CauseOf(err error) string {
	typed, ok := err.(*Error) //nolint:errorlint // what an error wraps may hold a secret
	if !ok {
		return err.Error()
	}
	var parts []string
	if typed.Status != 0 {
		parts = append(parts, fmt.Sprintf("status %d", typed.Status))
	}
	if typed.Err != nil {
		parts = append(parts, typed.cause())
	}
	return cmp.Or(strings.Join(parts, ": "), typed.Kind.String())
}

// shortenLinks leaves of each link no more than the host it leads to: paths and
// queries may hold tokens. It reports whether anything was left out.
func shortenLinks(params map[string]any) (map[string]any, bool) {
	kept, cut := params, false
	for name, v := range params {
		text, ok := v.(string)
		if !ok || !strings.Contains(text, "://") {
			continue
		}
		if short := hostOf(text); short != text {
			if !cut {
				kept, cut = maps.Clone(params), true
			}
			kept[name] = short
		}
	}
	return kept, cut
}

// hostOf is a link up to its host, and a mark where it went on.
func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Host == "" {
		return "…"
	}
	short := u.Scheme + "://" + u.Host
	if rest := strings.TrimPrefix(link, short); rest == "" || rest == "/" {
		return link
	}
	return short + "/…"
}
