package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

const (
	// latencyRate is how many requests a second are offered, whatever comes of them.
	latencyRate = 5000
	// allConnections are those of a load that does not wait for answers.
	allConnections = 1024
)

// latency measures how long answers take when the server has time to spare, in µs.
func latency(b *bench, r *row, s *server) error {
	// A virtual machine stands still for 20 ms now and then: in a span of 2 s, one such
	// pause alone would be the p99.
	const spans = 5
	var m *vegeta.Metrics
	done, used, err := b.during(r.counted, []*server{s}, func() (outcome, error) {
		pace := vegeta.Rate{Freq: latencyRate, Per: time.Second}
		m = attack{pace, spans * b.span(), allConnections}.summary(r.targets(s, r.paths(b, s)))
		return r.came(m), nil
	})
	if err = errors.Join(err, r.check(s, done, used)); err != nil {
		return err
	}
	b.note("p50", s.column, micros(m.Latencies.P50))
	b.note("p99", s.column, micros(m.Latencies.P99))
	return nil
}

// overload offers a server four times what it can do, half of it what its cache has, half
// QR codes that must be drawn.
func overload(b *bench, r *row) error {
	const spans, times, perMilli = 5, 4, 1000
	s, err := b.started(sundrySheds)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := b.ask(r, s, digestPath); err != nil {
		return err
	}
	span := spans * b.span()
	// The capacity is what two callers get who ask one thing after the other.
	capacity := offer(s, attack{vegeta.Rate{}, span, 2}).answered(span)
	o := offer(s, attack{vegeta.Rate{Freq: int(times * capacity), Per: time.Second}, span, allConnections})
	b.note(r.name, "capacity", capacity)
	b.note(r.name, "answered", o.answered(span))
	b.note(r.name, "hits p99", micros(o.hits.Latencies.P99)/perMilli)
	b.note(r.name, "lost", float64(o.lost))
	return nil
}

// offered is what came of a load of hits and drawings.
type offered struct {
	hits  vegeta.Metrics // that were answered
	drawn int
	lost  int // hits that were shed, and all that failed
}

func offer(s *server, load attack) *offered {
	o := &offered{}
	load.run(hitsAndDrawings(s), o.add)
	o.hits.Close()
	return o
}

// hitsAndDrawings are half hits, half drawings of what nobody has asked for.
func hitsAndDrawings(s *server) vegeta.Targeter {
	return func(t *vegeta.Target) error {
		path := digestPath
		if rand.N(2) == 0 {
			path = drawPath + fmt.Sprint(rand.Uint64())
		}
		*t = vegeta.Target{Method: http.MethodGet, URL: s.url(path), Header: http.Header{"User-Agent": {""}}}
		return nil
	}
}

// add counts an answer. A drawing may be shed, if the answer says when to ask again.
func (o *offered) add(r *vegeta.Result) {
	isHit := strings.HasSuffix(r.URL, digestPath)
	switch {
	case r.Code == http.StatusOK && isHit:
		o.hits.Add(r)
	case r.Code == http.StatusOK:
		o.drawn++
	case isHit || r.Code != http.StatusServiceUnavailable || r.Headers.Get("Retry-After") == "":
		o.lost++
	}
}

// answered are answers a second.
func (o *offered) answered(span time.Duration) float64 {
	return float64(int(o.hits.Requests)+o.drawn) / span.Seconds()
}
