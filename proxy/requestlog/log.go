// Package requestlog reads from logs what callers have asked for, and what refreshes found: from
// those of Sundry, in text and JSON, and those of nginx in its combined format. It promises to
// read ten million lines within a minute, to take requests that the service takes for the same
// as such, and to count every line that says nothing by its reason.
package requestlog

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/advise"
	"sundry/metrics/words"
	"sundry/upstreams/catalog"
)

const (
	// mostEvents bounds what is kept of an endpoint: 4 MiB. Where that is too little for all
	// keys over the time of the log, it is that of a sample of the keys.
	mostEvents = 1 << 18
	// mostMeanings bounds what is remembered of the meaning of queries.
	mostMeanings = 1 << 18
	// mostOthers bounds the names of other endpoints.
	mostOthers = 20
	// farAhead is how far ahead of now a line may be: a broken clock would else put all
	// others into a past that counts no more.
	farAhead = 31 * 24 * time.Hour
	// farBack is how long ago it may be: days are counted from the first one on.
	farBack = 10 * 366 * 24 * time.Hour
)

var (
	errOld = words.NewError("more than ten years ago: expected the time of a request",
		"是十年以前的，应为请求的时间")
	errOutcome = words.NewError("expected the outcome of a fill: first, unchanged, changed or failed",
		"应为回源的结果：first、unchanged、changed 或 failed")
)

// Log is what logs say of some endpoints.
type Log struct {
	// Endpoints by name.
	Endpoints map[string]*Endpoint
	// Others are names of other endpoints in the log of Sundry, mostOthers at most.
	Others   []string
	Counts   Counts
	now      time.Time
	paths    map[string]*Endpoint
	meanings map[string]meaning
}

// Endpoint is what logs say of one.
type Endpoint struct {
	*catalog.Endpoint
	Seen     advise.Seen
	Requests int
	depends  catalog.Circumstances
	oneKey   bool // all requests of a day have the same key
}

// meaning is what a query asks for.
type meaning struct {
	key     uint64
	refused bool
}

// New makes a log of endpoints, whose paths begin with basePath, of which nothing was read yet.
func New(endpoints []*catalog.Endpoint, basePath string, now time.Time) *Log {
	l := &Log{
		Endpoints: map[string]*Endpoint{}, Counts: Counts{Keyless: map[string]int{}},
		now: now, paths: map[string]*Endpoint{}, meanings: map[string]meaning{},
	}
	takesInput := func(p *catalog.Param) bool { return p.Role == catalog.RoleInput && !p.Derived() }
	for _, e := range endpoints {
		depends := e.Circumstances()
		to := &Endpoint{
			Endpoint: e, Seen: advise.Seen{Most: mostEvents}, depends: depends,
			oneKey: len(e.Chains) == 1 && depends&^catalog.OfDay == 0 && !slices.ContainsFunc(e.Params, takesInput),
		}
		l.Endpoints[e.Name] = to
		for _, end := range []string{"", "/", "/index.php"} {
			l.paths[basePath+"/api/"+e.Name+end] = to
		}
	}
	return l
}

// Read reads a log, whatever its lines are in, in gzip or not. name is for messages.
func (l *Log) Read(ctx context.Context, log io.Reader, name words.Text) error {
	err := eachLine(log, func(n int, text []byte, err error) error {
		switch {
		case err != nil:
		case isOwn(text):
			err = l.own(text)
		default:
			err = l.combined(text)
		}
		l.Counts.line(name, n, err)
		if n%(1<<14) == 0 {
			return ctx.Err()
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = words.Translated(fmt.Errorf("%s: %w", name, err), name.ZH()+"："+unread(err))
	}
	return err
}

// counts reports whether a line counts: not one about something else, nor one of a time that
// cannot be.
func (l *Log) counts(to *Endpoint, at time.Time) (bool, error) {
	switch {
	case to == nil:
		l.Counts.Other++
		return false, nil
	case at.After(l.now.Add(farAhead)):
		l.Counts.Future++
		return false, nil
	case at.Before(l.now.Add(-farBack)):
		return false, errOld
	}
	return true, nil
}

// own takes what a line of Sundry's log says.
func (l *Log) own(text []byte) error {
	line, err := parseOwn(text)
	if err != nil {
		return err
	}
	to := l.Endpoints[string(line.endpoint)]
	if to == nil && len(line.endpoint) > 0 && len(l.Others) < mostOthers && !slices.Contains(l.Others, string(line.endpoint)) {
		l.Others = append(l.Others, string(line.endpoint))
	}
	if ok, err := l.counts(to, line.time); !ok {
		return err
	}
	key, ok := to.keyOf(&line)
	switch outcome := string(line.outcome); {
	case line.isRequest() && (outcome == "invalid" || outcome == "limited" || outcome == "shed"):
		l.Counts.Refused++
	case !ok:
		l.Counts.Keyless[to.Name]++
	case line.isFill():
		return l.fill(to, key, &line)
	default:
		l.request(to, key, line.time, line.weight)
	}
	return nil
}

// keyOf is a hash of the key's mark, or of the only key; ok is false if it is not known.
func (e *Endpoint) keyOf(l *ownLine) (key uint64, ok bool) {
	switch {
	case len(l.key) > 0:
		return xxhash.Sum64(l.key), true
	case e.depends&catalog.OfDay != 0:
		return uint64(catalog.DayOf(l.time)), e.oneKey
	}
	return 0, e.oneKey
}

// request notes a request that stands for so many.
func (l *Log) request(to *Endpoint, key uint64, at time.Time, weight int) {
	l.Counts.Requests++
	to.Requests++
	to.Seen.Request(uint32(key), at, weight, to.Policy.TTL)
}

// fill notes what a refresh found.
func (l *Log) fill(to *Endpoint, key uint64, line *ownLine) error {
	failed := string(line.outcome) == "failed" // it says nothing of the content
	found, known := advise.ParseOutcome(string(line.outcome))
	if !known && !failed {
		return errOutcome
	}
	if line.age == 0 {
		found = advise.First // nothing was replaced
	}
	if l.Counts.Fills++; !failed {
		to.Seen.Refresh(uint32(key), line.time, line.age, found)
	}
	return nil
}

// combined takes what a line of nginx's log says.
func (l *Log) combined(text []byte) error {
	line, err := parseCombined(text)
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(line.target, "?")
	to := l.paths[path]
	if line.method != http.MethodGet && line.method != http.MethodHead {
		to = nil
	}
	if ok, err := l.counts(to, line.time); !ok {
		return err
	}
	switch line.status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		l.Counts.Refused++ // it did not get as far as the cache
		return nil
	}
	if m := l.meaning(to, query, &line); m.refused {
		l.Counts.Refused++
	} else {
		l.request(to, m.key, line.time, 1)
	}
	return nil
}

// meaning is that of a query, which is remembered for the circumstances that decide it.
func (l *Log) meaning(to *Endpoint, query string, line *combinedLine) meaning {
	if to.depends&catalog.OfChance != 0 {
		return to.parse(query, line)
	}
	known := to.Name + "?" + query
	if to.depends&catalog.OfAddress != 0 {
		known += "\x00" + line.addr
	}
	if to.depends&catalog.OfAgent != 0 {
		known += "\x00" + line.agent
	}
	if to.depends&catalog.OfDay != 0 {
		known += "\x00" + string(binary.AppendVarint(nil, catalog.DayOf(line.time)))
	}
	m, ok := l.meanings[known]
	if !ok {
		if len(l.meanings) >= mostMeanings {
			clear(l.meanings)
		}
		m = to.parse(query, line)
		l.meanings[known] = m
	}
	return m
}

// parse is how the service understands the query.
func (e *Endpoint) parse(query string, line *combinedLine) meaning {
	addr, _ := netip.ParseAddr(line.addr)
	caller := catalog.Caller{Addr: addr.Unmap()}
	if line.agent != "" {
		caller.Header = http.Header{"User-Agent": {line.agent}}
	}
	in, bad := e.ParseAt(query, caller, func() time.Time { return line.time })
	if bad != nil {
		return meaning{refused: true}
	}
	return meaning{key: xxhash.Sum64String(in.Key())}
}

// WithoutKeys says which endpoints' keys are not known, and why; zero if there are none.
func (l *Log) WithoutKeys() words.Text {
	var unset, never []string
	for _, name := range slices.Sorted(maps.Keys(l.Counts.Keyless)) {
		if e := l.Endpoints[name]; e.Personal() || e.TakesSecrets() {
			never = append(never, name) // the log has no marks of their keys, whatever log_keys says
		} else {
			unset = append(unset, name)
		}
	}
	mayBeSet := unknown(unset, "the keys are not in the log of Sundry; set log_keys: true, or ",
		"Sundry 的日志中没有键；请设置 log_keys: true，或")
	hidden := unknown(never, "the log of Sundry never has the keys of personal or secret parameters; ",
		"Sundry 的日志从不记录个人信息或秘密参数的键；请")
	if mayBeSet.IsZero() || hidden.IsZero() {
		return cmp.Or(mayBeSet, hidden)
	}
	return words.Sayf("%s; %s", "%s；%s", mayBeSet, hidden)
}

// unknown says why nothing can be said about endpoints, and what to give instead; zero if there are none.
func unknown(names []string, en, zh string) words.Text {
	if len(names) == 0 {
		return words.Text{}
	}
	return words.Sayf("nothing can be said about %s: %sgive the log of the proxy in front, in nginx's combined format",
		"无法对 %s 给出建议：%s提供前面的代理以 nginx 的 combined 格式写的日志", words.Names(names...), words.Say(en, zh))
}
