package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// soakSlack is how long what was served, or ordered and acknowledged, may take to be known
// everywhere.
const soakSlack = time.Second

// soakConfirmed is how long an instance may serve a copy after another one has served something newer: it confirms what it serves
// once in five seconds.
const soakConfirmed = 5*time.Second + soakSlack

// soakSameTime is how long after one fill another one may begin and still count as older, or
// before an order and still count as later: instances date them by the clock of Redis, as
// they have read it.
const soakSameTime = 50 * time.Millisecond

// soakRecovery is how long after an outage of Redis what was filled meanwhile may take to be
// there: a breaker tries again after at most 2.4 s, and what waits is written then.
const soakRecovery = 2400*time.Millisecond + soakSlack

// judge holds what a fleet serves to what it had served, and to the orders that it has
// acknowledged. Sources answer with a number for each key that rises with each call, so that
// a higher one was asked for later. It is safe for concurrent use.
type judge struct {
	t    testing.TB
	line *timeline

	mu     sync.Mutex
	asked  map[string]int64    // the last number that the source gave, by key
	gave   map[string][]served // the numbers that the source gave, by key
	served map[string][]served // the highest numbers served, by key (by instances that were not disturbed), and by key and instance
	orders map[string][]order  // purges and drops that were acknowledged, by key
	story  map[string][]event  // what became of a key: calls of its source, and answers that differ from the last of that instance
	last   map[string]int64    // the last number served, by key and instance
	faults int
}

// event is a line of the story of a key.
type event struct {
	at   time.Time
	what string
}

// served is the highest number that anybody had been served, or that the source gave, by a time.
type served struct {
	at time.Time
	n  int64
}

// order is a purge or a drop: what was asked for before it is gone.
type order struct {
	what, by string    // the instance that was told
	at       time.Time // when it was acknowledged
	floor    int64     // the last number asked for before it
}

func newJudge(t testing.TB, line *timeline) *judge {
	return &judge{t: t, line: line, asked: map[string]int64{}, gave: map[string][]served{}, served: map[string][]served{}, orders: map[string][]order{}, story: map[string][]event{}, last: map[string]int64{}}
}

// next is the source's next number for a key.
func (j *judge) next(key string) int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked[key]++
	j.gave[key] = append(j.gave[key], served{time.Now(), j.asked[key]})
	j.tell(key, "the source is asked for %d", j.asked[key])
	return j.asked[key]
}

// tell adds a line to the story of a key. The lock is held.
func (j *judge) tell(key, format string, args ...any) {
	all := append(j.story[key], event{time.Now(), fmt.Sprintf(format, args...)})
	if len(all) > 200 {
		all = slices.Clone(all[100:])
	}
	j.story[key] = all
}

// ordering notes what was asked for before an order for these keys is given, but for what
// was asked for at the same time: another instance dates that. Call acknowledged once the
// order is.
func (j *judge) ordering(what, by string, keys []string) (acknowledged func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	floors := map[string]int64{}
	for _, key := range keys {
		floors[key] = j.askedBy(key, time.Now().Add(-soakSameTime))
	}
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		for key, floor := range floors {
			j.orders[key] = append(j.orders[key], order{what, by, time.Now(), floor})
		}
	}
}

// askedBy is the last number that was asked for by a time. The lock is held.
func (j *judge) askedBy(key string, at time.Time) int64 {
	for _, s := range slices.Backward(j.gave[key]) {
		if !s.at.After(at) {
			return s.n
		}
	}
	return 0
}

// answer judges a number that an instance has served for a key to a request that began then.
func (j *judge) answer(instance, key string, n int64, from time.Time) {
	now := time.Now()
	calm := !j.disturbed(instance, from, now)
	j.mu.Lock()
	defer j.mu.Unlock()
	own := key + " " + instance
	if last := j.servedBy(own, from.Add(-soakSlack)); j.older(key, n, last.n) && (calm || !j.stopped(instance, from, now)) {
		j.fault(now, key, "%s serves %d of %s, and had served %d %v before", instance, n, key, last.n, from.Sub(last.at))
	}
	if last := j.servedBy(key, from.Add(-soakConfirmed)); calm && j.older(key, n, last.n) {
		j.fault(now, key, "%s serves %d of %s, and the fleet had served %d %v before", instance, n, key, last.n, from.Sub(last.at))
	}
	for _, o := range j.orders[key] {
		holds := o.by == instance && from.After(o.at) || calm && from.Sub(o.at) > soakSlack
		if holds && n <= o.floor {
			j.fault(now, key, "%s serves %d of %s, and all up to %d was gone by a %s on %s, acknowledged %v before", instance, n, key, o.floor, o.what, o.by, from.Sub(o.at))
		}
	}
	if j.last[own] != n {
		j.last[own] = n
		j.tell(key, "%s serves %d", instance, n)
	}
	j.note(own, n, now)
	if calm { // or Redis may lack it, and others cannot know it if the instance ends
		j.note(key, n, now)
	}
	j.forget(key, now)
}

// note notes that a number was served at a time. The lock is held.
func (j *judge) note(of string, n int64, at time.Time) {
	if last := j.servedBy(of, at); n > last.n {
		j.served[of] = append(j.served[of], served{at, n})
	}
}

// older reports whether the source was asked for one number before the other, by more than
// clocks of instances are apart that know that of Redis. The lock is held.
func (j *judge) older(key string, n, than int64) bool {
	gave := j.gave[key]
	return n < than && gave[than-1].at.Sub(gave[n-1].at) > soakSameTime
}

// servedBy is the highest number that was served by a time. The lock is held.
func (j *judge) servedBy(of string, at time.Time) served {
	for _, s := range slices.Backward(j.served[of]) {
		if !s.at.After(at) {
			return s
		}
	}
	return served{}
}

// forget drops the orders that every later one includes. The lock is held.
func (j *judge) forget(key string, now time.Time) {
	all := j.orders[key]
	for len(all) > 100 && now.Sub(all[0].at) > time.Minute {
		all = all[1:]
	}
	j.orders[key] = all
	for _, of := range []string{key} {
		if s := j.served[of]; len(s) > 2000 {
			j.served[of] = slices.Clone(s[1000:])
		}
	}
}

// disturbed reports whether an instance could not know everything at some time between two:
// it was stopped, or Redis failed, and it had not yet recovered.
func (j *judge) disturbed(instance string, from, to time.Time) bool {
	return j.stopped(instance, from, to) || j.line.any("redis", from.Add(-soakRecovery), to, nil)
}

func (j *judge) stopped(instance string, from, to time.Time) bool {
	return j.line.any("stop", from.Add(-soakSlack), to, func(e *episode) bool { return e.subject == instance })
}

const (
	// maxFaults are reported; the others would say the same.
	maxFaults = 20
	// reach is how far back what is said of a fault begins.
	reach = 10 * time.Second
)

func (j *judge) fault(at time.Time, key, format string, args ...any) {
	j.faults++
	if j.faults > maxFaults {
		return
	}
	var story strings.Builder
	for _, e := range j.story[key] {
		if e.at.After(at.Add(-reach)) {
			_, _ = fmt.Fprintf(&story, "  %s: %s\n", j.line.at(e.at), e.what)
		}
	}
	j.t.Errorf("%s: %s\n%sstory of the key:\n%s", j.line.at(at), fmt.Sprintf(format, args...), j.line.last(at, reach), &story)
}
