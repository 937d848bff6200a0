package upstreams

import (
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"sundry/upstreams/lib/redact"
)

// Bounds of the journal.
const (
	recentPerSource = 60
	recentFailures  = 100
	errorMax        = 300 // bytes of an error's text
)

// Record is an attempt as the journal keeps it.
type Record struct {
	ID               uint64
	At               time.Time
	Endpoint, Source string // as declared
	Result           string // "success" or the name of an ErrorKind
	Took             time.Duration
	Err              string         // for operators; it holds no URL and no secret
	Params           map[string]any // nil where they are personal
	Private          bool
	// Cut means that Params lack what stood behind a link's host.
	Cut bool
}

// Journal remembers the last attempts of every source, and the last that
// failed, for operators to look at. The zero value is empty and ready.
type Journal struct {
	mu       sync.Mutex
	last     uint64
	bySource map[sourceID]*ring
	failed   ring
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
		j.bySource = map[sourceID]*ring{}
	}
	j.last++
	n.ID = j.last
	id := sourceID{n.Endpoint, n.Source}
	recent := j.bySource[id]
	if recent == nil {
		recent = &ring{}
		j.bySource[id] = recent
	}
	again := recent.last() == n.Result
	if n.Result == Throttled.String() && again {
		return // the first says so; the others would drive out the calls that were made
	}
	recent.add(n, recentPerSource)
	// The first call that an open breaker rejects says so; the others would
	// drive out what opened it.
	failed := n.Result != "success" && n.Result != Negative.String() && n.Result != Throttled.String() && n.Result != resultOutrun
	if failed && (n.Result != Rejected.String() || !again) {
		j.failed.add(n, recentFailures)
	}
}

// Recent lists the last attempts of a source, oldest first.
func (j *Journal) Recent(endpoint, source string) []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.bySource[sourceID{endpoint, source}]; r != nil {
		return r.all()
	}
	return nil
}

// Failures lists the last attempts that failed, oldest first.
func (j *Journal) Failures() []Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed.all()
}

// record is an attempt on its way into the journal.
func (s *Source) record(call *Call, start time.Time, took time.Duration, result string, err error) Record {
	n := Record{At: start, Endpoint: s.endpoint, Source: s.Declared, Result: result, Took: took, Private: call.Private}
	if err != nil {
		n.Err = redact.Truncate(err.Error(), errorMax)
	}
	if !call.Private {
		n.Params, n.Cut = shortenLinks(call.Params)
	}
	return n
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
