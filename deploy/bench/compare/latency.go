//go:build linux

package main

import (
	"fmt"
	"time"

	"sundry/deploy/bench/openloop"
)

// latencyRate is how many requests a second are offered, whatever comes of them.
const latencyRate = 5000

// latencySpans is for how many spans it is measured. A virtual machine stands still for
// 20 ms now and then: in a span of 2 s, one such pause alone would be the p99.
const latencySpans = 5

func quantiles() map[string]float64 {
	return map[string]float64{"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
}

// latency measures how long answers take when the server has time to spare. The load
// comes from this process, which busily waits on a core of its own.
func latency(b *bench, r *row, round int) error {
	present := b.present(r)
	for i := range present {
		column := present[(i+round)%len(present)]
		s := b.servers[r.servers[column]]
		w, err := b.watch(r, s)
		if err != nil {
			return err
		}
		result, err := b.requests(r, s, r.paths(b, s, round), "").Offer(openloop.Constant(latencyRate, latencySpans*b.span))
		if err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
		done := &outcome{answers: result.Answers(), failed: result.Answers() - result.Statuses[r.status], bytes: result.Bytes}
		if err := w.check(r, done, 0); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
		for name, q := range quantiles() {
			took := openloop.Quantile(result.Took, q)
			b.results.add(r.name+" "+name, column, took.Seconds()*1e6)
			b.Say("round %d  %-12s %-14s %8s %v", round+1, r.name, column, name, took.Round(time.Microsecond))
		}
	}
	return nil
}
