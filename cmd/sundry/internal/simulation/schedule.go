package simulation

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Event is one thing that happens to the fleet.
type Event struct {
	At     time.Duration // since the fleet began to serve
	Do     string        // the name of an action
	On     int           // the instance; all that concern Redis ignore it
	Target string        // what is requested or changed
	For    time.Duration // how long a fault lasts
	N      int           // how many, or how much
}

// String is a line of a schedule.
func (e Event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%8.3fs  %-18s", e.At.Seconds(), e.Do)
	if !actions()[e.Do].fleet {
		fmt.Fprintf(&b, " instance %d", e.On)
	}
	if e.Target != "" {
		fmt.Fprintf(&b, "  %s", e.Target)
	}
	if e.For > 0 {
		fmt.Fprintf(&b, "  for %s", e.For)
	}
	if e.N != 0 {
		fmt.Fprintf(&b, "  n=%d", e.N)
	}
	return b.String()
}

// Schedule is what happens in a run, in order. Any part of it is a schedule, too.
type Schedule struct {
	Seed      uint64
	Instances int
	// Clock is by how much the clock of Redis is ahead of that of the instances.
	Clock time.Duration
	// Jumps means that the clock of Redis is set anew in the run: which responses are older is not promised then.
	Jumps  bool
	Events []Event
}

// String has a line for each event.
func (s Schedule) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, %d instances, the clock of Redis %s ahead\n", s.Seed, s.Instances, s.Clock)
	for _, e := range s.Events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

// events is how many a schedule has.
const events = 200

// calmFrom is when the faults of every second schedule end: what is promised of a fleet that is well has to be seen, too.
const calmFrom = 35 * time.Second

// NewSchedule derives a schedule from a seed. Times with faults and times without take turns, for the same reason.
func NewSchedule(seed uint64) Schedule {
	r := rand.New(rand.NewPCG(seed, 1))
	s := Schedule{Seed: seed, Instances: 3 + r.IntN(3)/2, Jumps: seed%8 == 7}
	if r.IntN(2) == 0 {
		s.Clock = (time.Duration(r.IntN(360)) - 180) * time.Second
	}
	table := actions()
	all := slices.Sorted(maps.Keys(table))
	if !s.Jumps {
		all = slices.DeleteFunc(all, func(name string) bool { return name == clockAction })
	}
	calm := slices.Sorted(maps.Keys(callers()))
	names, other, turn := all, calm, seconds(r, 30)
	for at := time.Duration(0); len(s.Events) < events; {
		if seed%2 == 0 && at > calmFrom {
			names, other = calm, calm
		}
		at += time.Duration(r.ExpFloat64() * 0.4 * float64(time.Second)).Round(time.Millisecond)
		if at > turn {
			names, other, turn = other, names, at+seconds(r, 30)
		}
		e := Event{At: at, Do: drawName(r, names, table), On: r.IntN(s.Instances)}
		if draw := table[e.Do].draw; draw != nil {
			draw(r, &e)
		}
		s.Events = append(s.Events, e)
	}
	return s
}

// drawName draws the name of an action, by the weights of all.
func drawName(r *rand.Rand, names []string, table map[string]action) string {
	total := 0
	for _, name := range names {
		total += table[name].weight
	}
	left := r.IntN(total)
	for _, name := range names {
		if left -= table[name].weight; left < 0 {
			return name
		}
	}
	return "" // not reached: left is below the total
}

// Targets of clients: an endpoint, one whose source has a rate, and an API with variants.
const (
	endpointPath = "/api/own/index.php?id="
	ratedPath    = "/api/rated/index.php?id="
	apiPath      = "/api/web/p/"
)

// targets returns all that clients request: each key of the endpoint, and each variant of the URLs of the API.
func targets() []string {
	var all []string
	for id := range 4 {
		all = append(all, fmt.Sprintf("%s%d", endpointPath, id+1))
	}
	for page := range 3 {
		for _, lang := range []string{"de", "en"} {
			all = append(all, fmt.Sprintf("%s%d %s", apiPath, page+1, lang))
		}
	}
	return all
}

// pick draws one of several values.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// seconds draws a time from one second up to a number of them.
func seconds(r *rand.Rand, most int) time.Duration {
	return time.Duration(1000+r.IntN((most-1)*1000)) * time.Millisecond
}
