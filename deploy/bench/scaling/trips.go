//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"sundry/deploy/bench/harness"
)

// tripRow is what one kind of request does at Redis.
type tripRow struct {
	name string
	// waited is how many round trips the caller waits for, one after the other, by how
	// much later the answer comes when each takes longer; it is not known where timed is
	// false.
	waited float64
	timed  bool
	// each is the number of all round trips of a request, behind the answer as well.
	each     float64
	commands float64
	by       map[step]float64
}

const (
	tripRequests = 20
	// tripDelay is by how much each round trip is held back, to see who waits for it. It
	// is longer than what a busy machine adds, and shorter than Redis is waited for.
	tripDelay = 50 * time.Millisecond
)

// Names of rows.
const (
	nearName  = "near hit"
	farName   = "far hit"
	missName  = "miss"
	staleName = "stale hit, with its refresh"
)

// asking is a kind of request: who is asked for keys that were got ready before.
type asking struct {
	name     string
	endpoint string
	requests int
	ready    func(t *tripBench, ids []int) error
	ask      func(t *tripBench, id int) error
	fills    bool // they end with a release of the lease
	notTimed bool // the source takes its time
}

// tripBench are two instances that reach Redis through a relay.
type tripBench struct {
	*bench
	relay    *relay
	one, two *harness.Sundry
}

// askings are the rows of the table.
func askings() []asking {
	filled := func(endpoint string) func(*tripBench, []int) error {
		return func(t *tripBench, ids []int) error { return t.askAll(t.one, endpoint, ids) }
	}
	ask := func(endpoint string) func(*tripBench, int) error {
		return func(t *tripBench, id int) error { return t.askOnce(t.one, endpoint, id) }
	}
	unknown := func(*tripBench, []int) error { return nil }
	return []asking{
		{name: nearName, endpoint: lookups, requests: tripRequests, ready: filled(lookups), ask: ask(lookups)},
		{name: farName, endpoint: lookups, requests: tripRequests, ready: filled(lookups),
			ask: func(t *tripBench, id int) error { return t.askOnce(t.two, lookups, id) }},
		{name: missName, endpoint: lookups, requests: tripRequests, ready: unknown, ask: ask(lookups), fills: true},
		{name: "miss, source of a second", endpoint: slow, requests: 2, ready: unknown, ask: ask(slow), fills: true, notTimed: true},
		{name: "the same miss on two instances at once, source of a second", endpoint: slow, requests: 2, ready: unknown, ask: askBoth, fills: true, notTimed: true},
		{name: staleName, endpoint: stales, requests: tripRequests, ready: func(t *tripBench, ids []int) error {
			if err := t.askAll(t.one, stales, ids); err != nil {
				return err
			}
			return t.makeStale([]*harness.Sundry{t.one, t.two})
		}, ask: ask(stales), fills: true},
	}
}

func askBoth(t *tripBench, id int) error {
	other := make(chan error, 1)
	go func() { other <- t.askOnce(t.two, slow, id) }()
	return errors.Join(t.askOnce(t.one, slow, id), <-other)
}

// measureTrips counts the round trips of each kind of request, and those of instances
// that nobody asks.
func (b *bench) measureTrips(f *figures) error {
	r, err := newRelay(b.address)
	if err != nil {
		return err
	}
	defer r.close()
	fleet, err := b.fleet(2, ordinaryMemory, r.address())
	if err != nil {
		return err
	}
	defer end(fleet)
	t := &tripBench{bench: b, relay: r, one: fleet[0], two: fleet[1]}
	for _, a := range askings() {
		row, err := t.row(a)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		b.Say("%-60s %4.1f round trips, %.0f of them waited for: %v", row.name, row.each, row.waited, row.by)
		f.trips = append(f.trips, row)
	}
	return nil
}

// row counts one kind of request, then times it.
func (t *tripBench) row(a asking) (tripRow, error) {
	row := tripRow{name: a.name, by: map[step]float64{}}
	usual, seen, err := t.round(a)
	if err != nil {
		return row, err
	}
	n := float64(a.requests)
	row.each, row.commands = float64(seen.requests())/n, float64(seen.commands)/n
	for s, m := range seen.by {
		if s.ofRequests() {
			row.by[s] = float64(m) / n
		}
	}
	if a.notTimed {
		return row, nil
	}
	t.relay.delay.Store(int64(tripDelay))
	delayed, _, err := t.round(a)
	t.relay.delay.Store(0)
	row.waited, row.timed = max(0, math.Round(float64(delayed-usual)/float64(tripDelay))), true
	return row, err
}

// round gets keys ready, asks for each of them once, one after the other, and returns
// the median of how long that took, and the round trips.
func (t *tripBench) round(a asking) (time.Duration, trips, error) {
	ids := t.fresh(a.requests)
	if err := a.ready(t, ids); err != nil {
		return 0, trips{}, err
	}
	t.relay.reset()
	var took []time.Duration
	for i, id := range ids {
		begin := time.Now()
		if err := a.ask(t, id); err != nil {
			return 0, trips{}, err
		}
		took = append(took, time.Since(begin))
		if a.fills { // by itself: fills at the same time share looks
			if err := t.filled(a.endpoint, ids[:i+1]); err != nil {
				return 0, trips{}, err
			}
		}
	}
	slices.Sort(took)
	return took[len(took)/2], t.relay.seen(), nil
}

// filled waits until each of the keys was filled by somebody, and all is written.
func (t *tripBench) filled(endpoint string, ids []int) error {
	if err := t.Until("fills", func() bool { return t.relay.seen().releases >= len(ids) }, t.server); err != nil {
		return err
	}
	return t.written(endpoint, ids)
}

// askAll gets answers for keys, and waits until Redis has them.
func (t *tripBench) askAll(s *harness.Sundry, endpoint string, ids []int) error {
	for _, id := range ids {
		if err := t.askOnce(s, endpoint, id); err != nil {
			return err
		}
	}
	return t.written(endpoint, ids)
}

func (t *tripBench) askOnce(s *harness.Sundry, endpoint string, id int) error {
	answer, err := t.Get("http://"+s.Address+pathOf(endpoint, id), nil)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("expected status 200, got %d: %.100s", answer.Status, answer.Body)
	}
	return err
}

// pause waits, unless the run ends.
func (b *bench) pause(d time.Duration) error {
	select {
	case <-b.Context.Done():
		return b.Context.Err()
	case <-time.After(d):
		return nil
	}
}
