package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// episode is something that was so for a time.
type episode struct {
	what    string // fault, breaker, redis, limits, purge
	subject string
	detail  string
	from    time.Time
	to      time.Time // zero: it still is
}

func (s *episode) over() bool { return !s.to.IsZero() }

// overlaps tells whether it was so at any time between two.
func (s *episode) overlaps(from, to time.Time) bool {
	return !s.from.After(to) && (!s.over() || !s.to.Before(from))
}

// timeline is what was done to a run, and when. It is safe for concurrent use.
type timeline struct {
	began time.Time
	mu    sync.Mutex
	spans map[string][]*episode // by what
	order []*episode
}

func newTimeline() *timeline { return &timeline{began: time.Now(), spans: map[string][]*episode{}} }

// begin notes that something begins; end tells when it is over.
func (l *timeline) begin(what, subject, detail string) (end func()) {
	s := &episode{what: what, subject: subject, detail: detail, from: time.Now()}
	l.add(s)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.to = time.Now()
	}
}

func (l *timeline) add(s *episode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spans[s.what] = append(l.spans[s.what], s)
	l.order = append(l.order, s)
}

// any tells whether something of a kind was so between two times that fits; nil
// fits all.
func (l *timeline) any(what string, from, to time.Time, fits func(*episode) bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.spans[what], func(s *episode) bool { return s.overlaps(from, to) && (fits == nil || fits(s)) })
}

// all of a kind.
func (l *timeline) all(what string) []episode {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []episode
	for _, s := range l.spans[what] {
		all = append(all, *s)
	}
	return all
}

// last tells what went on shortly before a time.
func (l *timeline) last(at time.Time, reach time.Duration) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, s := range l.order {
		if !s.overlaps(at.Add(-reach), at) {
			continue
		}
		until := "still"
		if s.over() {
			until = l.at(s.to)
		}
		_, _ = fmt.Fprintf(&b, "  %s to %s %s %s %s\n", l.at(s.from), until, s.what, s.subject, s.detail)
	}
	return b.String()
}

// at is a time since the beginning.
func (l *timeline) at(t time.Time) string { return fmt.Sprintf("%.3fs", t.Sub(l.began).Seconds()) }
