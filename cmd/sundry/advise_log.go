package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sundry/cache/advise"
	"sundry/upstreams/catalog"
)

const (
	// longestLogLine is the longest line that is read.
	longestLogLine = 64 << 10
	// namedLines is how many unreadable lines are named.
	namedLines = 3
	// farAhead is how far ahead of now a line may be: a broken clock would else put all
	// others into a past that counts no more.
	farAhead = 31 * 24 * time.Hour
	// farBack is how long ago it may be: days are counted from the first one on.
	farBack = 10 * 366 * 24 * time.Hour
	// mostFilled bounds the keys of an endpoint whose last fill is remembered.
	mostFilled = 1 << 18
)

var errOld = errors.New("more than ten years ago: expected the time of a request")

// logCounts are the lines of the logs, by what became of them.
type logCounts struct {
	Lines    int `json:"lines"`
	Requests int `json:"requests"`
	Fills    int `json:"fills"`
	// Other lines are about something else: other paths, methods and endpoints, and other
	// messages of Sundry.
	Other int `json:"other"`
	// Refused requests were answered without the cache: invalid, limited, shed.
	Refused int `json:"refused"`
	// Future lines are far ahead of now.
	Future int `json:"future"`
	// Keyless lines of Sundry's log are about keys that are not known, by endpoint.
	Keyless map[string]int `json:"keyless"`
	Broken  int            `json:"unreadable"`
	// Unreadable are the first of these.
	Unreadable []string `json:"unreadable_first,omitempty"`
}

// String says how many lines there were of each kind.
func (c *logCounts) String() string {
	keyless := 0
	for _, n := range c.Keyless {
		keyless += n
	}
	parts := []string{fmt.Sprintf("%d lines: %d requests, %d fills", c.Lines, c.Requests, c.Fills)}
	for _, p := range []struct {
		n    int
		what string
	}{{c.Other, "about something else"}, {c.Refused, "refused requests"}, {keyless, "without a key"}, {c.Future, "more than a month ahead"}, {c.Broken, "not readable"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// adviseLog is what logs say of the endpoints that were chosen.
type adviseLog struct {
	endpoints map[string]*adviseEndpoint // by name
	paths     map[string]*adviseEndpoint
	meanings  map[string]meaning
	scratch   []byte
	earliest  time.Time // that a line may have
	latest    time.Time
	counts    logCounts
}

type adviseEndpoint struct {
	of       *catalog.Endpoint
	depends  catalog.Circumstances
	oneKey   bool // all requests of a day have the same key
	target   advise.Target
	seen     advise.Seen
	requests int
	filled   map[uint32]time.Time // the last fill of keys, where lines have no age
}

func newAdviseLog(now time.Time) *adviseLog {
	return &adviseLog{
		endpoints: map[string]*adviseEndpoint{}, paths: map[string]*adviseEndpoint{}, meanings: map[string]meaning{},
		earliest: now.Add(-farBack), latest: now.Add(farAhead), counts: logCounts{Keyless: map[string]int{}},
	}
}

func (l *adviseLog) add(e *catalog.Endpoint, target advise.Target, basePath string) {
	to := &adviseEndpoint{
		of: e, depends: e.Circumstances(), target: target, seen: advise.Seen{Most: adviseEvents}, filled: map[uint32]time.Time{},
		oneKey: len(e.Chains) == 1 && e.Circumstances()&^catalog.OfDay == 0 && !slices.ContainsFunc(e.Params, takesInput),
	}
	l.endpoints[e.Name] = to
	for _, end := range []string{"", "/", "/index.php"} {
		l.paths[basePath+"/api/"+e.Name+end] = to
	}
}

// takesInput reports whether callers decide the key.
func takesInput(p *catalog.Param) bool { return p.Role == catalog.RoleInput && !p.Derived() }

// readFile reads a log; "-" is the standard input.
func (l *adviseLog) readFile(w *process, file string) error {
	if file == "-" {
		return l.read(w, w.stdin, "standard input")
	}
	f, err := os.Open(file) //nolint:gosec // the operator's own choice
	if err != nil {
		return err
	}
	return errors.Join(l.read(w, f, file), f.Close())
}

// read reads a log; nil is an empty one. name is for messages.
func (l *adviseLog) read(w *process, log io.Reader, name string) error {
	if log == nil {
		return nil
	}
	in, err := unzipped(log)
	for n := 1; err == nil; n++ {
		var line []byte
		var long bool
		line, long, err = readLine(in)
		if len(line) > 0 || long {
			l.line(line, long, name, n)
		}
		if n%(1<<14) == 0 && w.ctx.Err() != nil {
			return w.ctx.Err()
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// unzipped recognizes gzip.
func unzipped(log io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(log, longestLogLine)
	if magic, _ := in.Peek(2); string(magic) != "\x1f\x8b" {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	return bufio.NewReaderSize(z, longestLogLine), err
}

// readLine reads a line without its end. Of one that is too long, it reads on to its
// end. With an error there may be a line as well, the last.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	line, err = in.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) {
		long = true
		_, err = in.ReadSlice('\n')
	}
	return bytes.TrimRight(line, "\r\n"), long, err
}

// line takes what a line says, or counts it as not readable.
func (l *adviseLog) line(line []byte, long bool, name string, n int) {
	l.counts.Lines++
	var err error
	switch {
	case long:
		err = fmt.Errorf("longer than %d bytes", longestLogLine)
	case isOwn(line):
		err = l.ownLine(line)
	default:
		err = l.combinedLine(line)
	}
	if err == nil {
		return
	}
	l.counts.Broken++
	if len(l.counts.Unreadable) < namedLines {
		l.counts.Unreadable = append(l.counts.Unreadable, fmt.Sprintf("%s:%d: %v", name, n, err))
	}
}

// request notes a request that stands for so many.
func (l *adviseLog) request(to *adviseEndpoint, key uint64, at time.Time, weight int) {
	l.counts.Requests++
	to.requests++
	to.seen.Request(uint32(key), at, weight, to.of.Policy.TTL)
}

// keyless says which endpoints' keys are not known, and why; "" if there are none.
func (l *adviseLog) keyless() string {
	names := slices.Sorted(maps.Keys(l.counts.Keyless))
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("nothing can be said about %s: the keys are not in the log of Sundry; set log_keys: true (of no use to endpoints with personal parameters), or give the log of the proxy in front, in nginx's combined format", strings.Join(names, ", "))
}

// nothing says why nothing can be advised.
func (l *adviseLog) nothing(files []string) error {
	if why := l.keyless(); why != "" {
		return fmt.Errorf("%s: %s", strings.Join(files, ", "), why)
	}
	return fmt.Errorf(`%s: no request to an endpoint that is cached (%s): expected lines such as time=2026-01-02T15:04:05Z level=INFO msg=request endpoint=lishi outcome=hit, or 192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip/index.php?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`,
		strings.Join(files, ", "), l.counts.String())
}
