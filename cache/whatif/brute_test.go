package whatif_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
)

// asked is one request of a trace: when, after its beginning, and for which key.
type asked struct {
	at  time.Duration
	key uint64
}

// traceOf is a day of requests for keys of unequal popularity, busier at noon.
func traceOf(seed uint64, keys, requests int) []asked {
	random := rand.New(rand.NewPCG(seed, 1))
	popularity := rand.NewZipf(random, 1.2, 20, uint64(keys-1))
	trace := make([]asked, requests)
	for i := range trace {
		at := random.Float64()
		if random.Float64() < 0.5 {
			at = (at + random.Float64()) / 2
		}
		trace[i] = asked{time.Duration(at * float64(24*time.Hour)), popularity.Uint64()}
	}
	slices.SortFunc(trace, func(a, b asked) int { return int(a.at - b.at) })
	return trace
}

// process is when the content of each key changes.
type process [][]time.Duration

// worlds are how many courses of the content are looked at, of which answers have the
// first: in a single one, a rule under which few answers are old has too few to compare.
const worlds = 30

// version of a key's content at a time.
func (p process) version(key uint64, at time.Duration) int {
	n, _ := slices.BinarySearch(p[key], at+1)
	return n
}

func processesOf(keys int, next func(*rand.Rand, time.Duration) time.Duration) []process {
	all := make([]process, worlds)
	for w := range all {
		all[w] = make(process, keys)
		for k := range all[w] {
			random := rand.New(rand.NewPCG(uint64(k), uint64(w)))
			for at := next(random, -1); at < 25*time.Hour; at = next(random, at) {
				all[w][k] = append(all[w][k], at)
			}
		}
	}
	return all
}

func atRandom(mean time.Duration) func(*rand.Rand, time.Duration) time.Duration {
	return func(r *rand.Rand, last time.Duration) time.Duration {
		return max(0, last) + time.Duration(r.ExpFloat64()*float64(mean))
	}
}

func regularly(every time.Duration) func(*rand.Rand, time.Duration) time.Duration {
	return func(r *rand.Rand, last time.Duration) time.Duration {
		if last < 0 {
			return time.Duration(r.Float64() * float64(every))
		}
		return last + every
	}
}

// everyThreeHours, from one o'clock on: traces begin at midnight.
func everyThreeHours(_ *rand.Rand, last time.Duration) time.Duration {
	if last < 0 {
		return time.Hour
	}
	return last + 3*time.Hour
}

// tally is what really happened.
type tally struct {
	mu                        sync.Mutex
	n, calls, hits, fallbacks int
	older                     float64 // answers, in the mean of all worlds
	ages                      time.Duration
}

// brute sends the trace through the real cache, on a fake clock. Answers hold the
// version of the content when their load began.
func brute(t *testing.T, p cache.Policy, trace []asked, content []process, latency time.Duration) *tally {
	t.Helper()
	var got tally
	synctest.Test(t, func(t *testing.T) {
		c, err := cache.New(cache.Config{Memory: 64 << 20})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}()
		space, start := c.Space("brute", p), time.Now()
		var callers sync.WaitGroup
		for _, r := range trace {
			time.Sleep(time.Until(start.Add(r.at)))
			callers.Go(func() { got.ask(t, space, r.key, content, start, latency) })
		}
		callers.Wait()
	})
	return &got
}

func (got *tally) ask(t *testing.T, space *cache.Space, key uint64, content []process, start time.Time, latency time.Duration) {
	began := time.Now()
	hit, err := space.Fetch(context.Background(), "brute:"+strconv.FormatUint(key, 10), cache.Want{}, loader(func() cache.Content {
		version := content[0].version(key, time.Since(start))
		got.mu.Lock()
		got.calls++
		got.mu.Unlock()
		time.Sleep(latency)
		return cache.Content{Source: "first", Forms: []cache.Form{{{Status: 200, Type: "text/plain", Data: []byte(strconv.Itoa(version))}}}}
	}))
	if err != nil {
		t.Error(err)
		return
	}
	version, _ := strconv.Atoi(string(hit.Rep.Data))
	got.mu.Lock()
	defer got.mu.Unlock()
	got.n++
	got.ages += hit.Age
	if time.Since(began) == 0 {
		got.hits++
	}
	if hit.Failed != nil {
		got.fallbacks++
	}
	for _, world := range content {
		if world.version(key, hit.Meta.Created.Sub(start)) < world.version(key, time.Since(start)) {
			got.older += 1.0 / worlds
		}
	}
	loaded := content[0].version(key, hit.Meta.Created.Sub(start)) // Created is to the millisecond
	if version != loaded && version != loaded+1 {
		t.Errorf("version %d, loaded when there was %d", version, loaded)
	}
}

type loader func() cache.Content

func (l loader) Load(context.Context, bool) (cache.Content, error) { return l(), nil }

// midnight is when fake clocks begin.
var midnight = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// simulated tries rules with the trace.
func simulated(t testing.TB, trace []asked, cfg whatif.Config) []whatif.Outcome {
	t.Helper()
	r := whatif.New(cfg)
	for _, a := range trace {
		if err := r.Add(whatif.Request{At: midnight.Add(a.at), Key: a.key}); err != nil {
			t.Fatal(err)
		}
	}
	return r.Outcomes()
}

func rule(ttl, grace time.Duration) cache.Policy {
	return cache.Policy{
		TTL: ttl, Grace: grace, StaleIfError: time.Hour, Jitter: cache.DefaultJitter, Eager: cache.DefaultEager,
		SoftTimeout: cache.DefaultSoftTimeout, FillTimeout: cache.DefaultFillTimeout, Pause: cache.DefaultPause, PauseMax: cache.DefaultPauseMax,
	}
}

// TestMatchesTheRealCache simulates days under a few rules, and the same days through
// the real cache under each of them.
func TestMatchesTheRealCache(t *testing.T) {
	often, err := cache.ParseCalendar("01:00 04:00 07:00 10:00 13:00 16:00 19:00 22:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	timetable := rule(2*time.Hour, time.Hour)
	timetable.Until, timetable.Poll = often, 5*time.Minute
	const keys, requests = 200, 20_000
	for _, test := range []struct {
		name    string
		rules   []cache.Policy
		latency time.Duration
		changes whatif.Changes
		next    func(*rand.Rand, time.Duration) time.Duration
	}{
		{"at random", []cache.Policy{rule(30*time.Second, time.Minute), rule(5*time.Minute, 10*time.Minute), rule(30*time.Minute, 0), rule(2*time.Hour, time.Hour)},
			200 * time.Millisecond, whatif.Random(30 * time.Minute), atRandom(30 * time.Minute)},
		{"regularly", []cache.Policy{rule(10*time.Minute, 10*time.Minute), rule(time.Hour, 0)}, 2 * time.Second, whatif.Regular(30 * time.Minute), regularly(30 * time.Minute)},
		{"slow fills", []cache.Policy{rule(20*time.Second, 0), rule(5*time.Second, 2*time.Second)}, 8 * time.Second, whatif.Random(30 * time.Minute), atRandom(30 * time.Minute)},
		{"by a timetable", []cache.Policy{timetable, rule(2*time.Hour, 10*time.Minute)}, 200 * time.Millisecond, whatif.Timetable(often), everyThreeHours},
	} {
		t.Run(test.name, func(t *testing.T) {
			trace, content := traceOf(7, keys, requests), processesOf(keys, test.next)
			outcomes := simulated(t, trace, whatif.Config{Rules: test.rules, Changes: test.changes, Latency: test.latency})
			for i := range outcomes {
				o, real := &outcomes[i], brute(t, test.rules[i], trace, content, test.latency)
				name := fmt.Sprintf("ttl %v grace %v", o.Rule.TTL, o.Rule.Grace)
				t.Logf("%s: calls %d (real %d), hits %.4f (%.4f), older %.4f (%.4f), age %v (%v), fallbacks %d (%d)", name, o.Calls, real.calls, o.HitRatio(), real.share(float64(real.hits)),
					o.Older, real.share(real.older), o.MeanAge, real.ages/time.Duration(real.n), o.Fallbacks, real.fallbacks)
				near(t, name+": calls", float64(o.Calls), float64(real.calls))
				near(t, name+": hit ratio", o.HitRatio(), real.share(float64(real.hits)))
				near(t, name+": older", o.Older, real.share(real.older))
				near(t, name+": mean age", o.MeanAge.Seconds(), (real.ages / time.Duration(real.n)).Seconds())
			}
		})
	}
}

func (got *tally) share(n float64) float64 { return n / float64(got.n) }

// near wants a figure within 5 % of the real one.
func near(t *testing.T, what string, got, real float64) {
	t.Helper()
	if math.Abs(got-real) > 0.05*real {
		t.Errorf("%s: %v, in the real cache %v: off by %.1f %%", what, got, real, 100*math.Abs(got-real)/real)
	}
}
