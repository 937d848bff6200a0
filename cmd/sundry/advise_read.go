package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"sundry/cache/whatif"
)

const (
	// longestLogLine is the longest line that is read.
	longestLogLine = 64 << 10
	// namedLines is how many unreadable lines are named.
	namedLines = 3
	// disorder is how far the times of lines may go back: servers write lines at
	// nearly the same time in any order, and some of them when a request began.
	disorder = time.Minute
	// mostAtOnce bounds the lines of a second that wait to be spread over it.
	mostAtOnce = 1 << 20
)

// logCounts are the lines of the logs, by what became of them.
type logCounts struct {
	Lines     int `json:"lines"`
	Simulated int `json:"simulated"`
	// Other lines are about something else: other paths, methods and endpoints, and
	// messages of Sundry's log about anything but requests.
	Other int `json:"other"`
	// Refused requests were answered without the cache: invalid, limited, shed.
	Refused int `json:"refused"`
	// Keyless lines of Sundry's log are about requests whose key is not known, by
	// endpoint.
	Keyless    map[string]int `json:"keyless,omitempty"`
	Broken     int            `json:"unreadable"`
	Unreadable []string       `json:"unreadable_first,omitempty"` // the first of them
}

func (c *logCounts) keyless() (n int) {
	for _, k := range c.Keyless {
		n += k
	}
	return n
}

// String says how many lines there were of each kind.
func (c *logCounts) String() string {
	parts := []string{fmt.Sprintf("%d lines", c.Lines), fmt.Sprintf("%d simulated", c.Simulated)}
	for _, p := range []struct {
		n    int
		what string
	}{{c.Other, "about something else"}, {c.Refused, "refused requests"}, {c.keyless(), "without a key"}, {c.Broken, "not readable"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// readFile simulates a log; "-" is the standard input.
func (s *simulation) readFile(w *process, file string) error {
	if file == "-" {
		if w.stdin == nil {
			return nil
		}
		return s.read(w, w.stdin, "standard input")
	}
	f, err := os.Open(file) //nolint:gosec // the operator's own choice
	if err != nil {
		return fmt.Errorf("--log: %w", err)
	}
	err = s.read(w, f, file)
	return errors.Join(err, f.Close())
}

// read simulates a log. name is for messages.
func (s *simulation) read(w *process, log io.Reader, name string) error {
	in, err := unzipped(log)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for n := 1; ; n++ {
		line, long, err := readLine(in)
		if len(line) > 0 || long {
			if err := s.line(line, long, name, n); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return s.flush()
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case n%(1<<14) == 0 && w.ctx.Err() != nil:
			return w.ctx.Err()
		}
	}
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

// line simulates a line, unless there is something wrong with it, or nothing to do.
func (s *simulation) line(line []byte, long bool, name string, n int) error {
	s.counts.Lines++
	var of sorted
	err := fmt.Errorf("longer than %d bytes", longestLogLine)
	switch {
	case long:
	case isOwn(line):
		of, err = s.ownLine(line)
	default:
		of, err = s.combinedLine(line)
	}
	if err != nil {
		s.counts.Broken++
		if len(s.counts.Unreadable) < namedLines {
			s.counts.Unreadable = append(s.counts.Unreadable, fmt.Sprintf("%s:%d: %v", name, n, err))
		}
		return nil
	}
	if of.request.At.IsZero() {
		return nil
	}
	if err := s.order(of.request.At); err != nil {
		return fmt.Errorf("%s:%d: %w", name, n, err)
	}
	if of.to == nil {
		return nil
	}
	s.counts.Simulated++
	return s.schedule(of)
}

// sorted is a line with the endpoint that it is for. Without a time, it is for none
// and says nothing about the order of lines.
type sorted struct {
	to      *simulated // nil: for none
	request whatif.Request
	seconds bool // its time is in whole seconds
}

// order refuses lines that are not in the order of time.
func (s *simulation) order(at time.Time) error {
	if s.first.IsZero() {
		s.first = at
	}
	if back := s.latest.Sub(at); back > disorder {
		return fmt.Errorf("it is %s before a line above: expected lines in the order of time; give the oldest log first, and sort what several servers wrote", whatif.Duration(back.Round(time.Second)))
	}
	if at.After(s.latest) {
		s.latest = at
	}
	return nil
}

// schedule spreads requests of the same second over it: the log does not say when in
// the second each of them was.
func (s *simulation) schedule(of sorted) error {
	if len(s.waiting) > 0 && (!of.seconds || !of.request.At.Equal(s.waiting[0].request.At) || len(s.waiting) == mostAtOnce) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if of.seconds {
		s.waiting = append(s.waiting, of)
		return nil
	}
	return s.request(of)
}

// flush simulates what waits.
func (s *simulation) flush() error {
	defer func() { s.waiting = s.waiting[:0] }()
	step := time.Second / time.Duration(max(1, len(s.waiting)))
	for i, of := range s.waiting {
		of.request.At = of.request.At.Add(time.Duration(i) * step)
		if err := s.request(of); err != nil {
			return err
		}
	}
	return nil
}

func (s *simulation) request(of sorted) error {
	to := of.to
	if to.sim == nil {
		to.begin(s.first.Add(s.warmUp), s.memory)
	}
	err := to.sim.Add(of.request)
	if errors.Is(err, whatif.ErrMemory) {
		return fmt.Errorf("more keys than %d MiB of memory hold: name the endpoints to look at, give fewer rules (--ttl), or a shorter part of the log", adviseMemory>>20)
	}
	return err
}

// used are the endpoints that were asked for, the busiest first.
func (s *simulation) used() []*simulated {
	var all []*simulated
	for _, e := range s.endpoints {
		if e.sim != nil && e.sim.Requests() > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *simulated) int {
		return cmp.Or(cmp.Compare(b.sim.Requests(), a.sim.Requests()), strings.Compare(a.endpoint.Name, b.endpoint.Name))
	})
	return all
}
