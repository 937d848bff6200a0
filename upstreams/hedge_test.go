package upstreams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams/host"
)

// service answers after a while, or fails.
type service struct {
	mu    sync.Mutex
	takes time.Duration
	err   error
	calls int
	given int // calls that were cancelled
}

func (s *service) set(takes time.Duration, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes, s.err = takes, err
}

func (s *service) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *service) Fetch(ctx context.Context, _ *Attempt) (*Reply, error) {
	s.mu.Lock()
	s.calls++
	takes, err := s.takes, s.err
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		s.mu.Lock()
		s.given++
		s.mu.Unlock()
		return nil, &Error{Kind: Unavailable, Err: context.Cause(ctx)} // as net/http does
	}
	return &Reply{Body: "data", Judged: true}, err
}

// hedged is a chain of two services of which the second is the hedge of the first.
type hedged struct {
	t             *testing.T
	env           *Environment
	chain         *Chain
	first, second service
	attempts      []string
}

func newHedged(t *testing.T, change ...func(first, second *SourceConfig)) *hedged {
	t.Helper()
	h := &hedged{t: t, env: &Environment{}}
	h.env.Metrics = NewMetrics(prometheus.NewRegistry(), &h.env.Hosts, &h.env.Quotas)
	one := SourceConfig{Declared: "first", Timeout: 3 * time.Second, Hedge: true, Kind: Compiled{Fetch: h.first.Fetch, Host: h.env.Hosts.Get("first"), Remote: true, Repeatable: true}}
	two := SourceConfig{Declared: "second", Timeout: 3 * time.Second, Kind: Compiled{Fetch: h.second.Fetch, Host: h.env.Hosts.Get("second"), Remote: true, Repeatable: true}}
	for _, f := range change {
		f(&one, &two)
	}
	h.chain = NewChain("e", []*Source{NewSource("e", one, h.env), NewSource("e", two, h.env)}, true, h.env)
	h.first.set(50*time.Millisecond, nil)
	h.second.set(50*time.Millisecond, nil)
	return h
}

// ask returns the source of the answer, and how long it took.
func (h *hedged) ask(hasCopy bool) (source string, took time.Duration, err error) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	start := time.Now()
	h.attempts = nil
	a, err := h.chain.Do(ctx, &Call{Endpoint: "e", Now: start}, hasCopy, func(a AttemptReport) { h.attempts = append(h.attempts, a.Source+" "+a.Result) })
	return a.Source, time.Since(start), err
}

// learn makes as many quick calls of the first service as it takes to know it.
func (h *hedged) learn() {
	h.t.Helper()
	for range latencyLeast {
		if source, _, err := h.ask(false); err != nil || source != "first" {
			h.t.Fatal(source, err)
		}
	}
}

func (h *hedged) wantHedges(want string) {
	h.t.Helper()
	var got []string
	for _, result := range []string{"won", "lost", "failed", "refused"} {
		if n := testutil.ToFloat64(h.env.Metrics.hedges.WithLabelValues(result)); n > 0 {
			got = append(got, fmt.Sprintf("%s %v", result, n))
		}
	}
	if s := strings.Join(got, ", "); s != want {
		h.t.Errorf("hedges: %q, want %q", s, want)
	}
}

// TestASlowSourceIsHedged: the second one answers, the first is cancelled, and that
// counts against nobody.
func TestASlowSourceIsHedged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHedged(t)
		h.learn()
		h.first.set(2*time.Second, nil)
		source, took, err := h.ask(false)
		if err != nil || source != "second" || took != latencyFloor+50*time.Millisecond {
			t.Errorf("%s after %v: %v", source, took, err)
		}
		if want := []string{"second success", "first outrun"}; !slices.Equal(h.attempts, want) {
			t.Errorf("attempts %q, want %q", h.attempts, want)
		}
		if h.first.given != 1 || h.env.Hosts.Get("first").State() != "closed" {
			t.Errorf("%d calls were cancelled; breaker %s", h.first.given, h.env.Hosts.Get("first").State())
		}
		if recent := h.env.Journal.Recent("e", "first"); recent[len(recent)-1].Result != resultOutrun || len(h.env.Journal.Failures()) != 0 {
			t.Errorf("the journal has %+v, and %d failures", recent[len(recent)-1], len(h.env.Journal.Failures()))
		}
		if healthOf(&Error{Kind: Unavailable, Err: errOutrun}) != host.Ignored {
			t.Error("it counts against the host")
		}
		if n := testutil.ToFloat64(h.env.Metrics.failovers.WithLabelValues("e")); n != 0 {
			t.Errorf("%v failovers: nothing failed", n)
		}
		h.wantHedges("won 1")
	})
}

// TestHedges are what may happen after the second source was asked, and when it is not.
func TestHedges(t *testing.T) {
	down, no := &Error{Kind: Unavailable}, &Error{Kind: Negative}
	const ms = time.Millisecond
	for _, c := range []struct {
		name                 string
		first, second        time.Duration
		firstErr, secondErr  error
		source               string
		took                 time.Duration
		kind                 ErrorKind
		hedges               string
		firstMade, secondMde int
	}{
		{"both are quick", 50 * ms, 50 * ms, nil, nil, "first", 50 * ms, 0, "", 1, 0},
		{"it fails quickly: failover", 50 * ms, 50 * ms, down, nil, "second", 100 * ms, 0, "", 1, 1},
		{"it answers negatively: final", 50 * ms, 50 * ms, no, nil, "", 50 * ms, Negative, "", 1, 0},
		{"it answers before the second", 120 * ms, 50 * ms, nil, nil, "first", 120 * ms, 0, "lost 1", 1, 1},
		{"it fails while the second is asked", 120 * ms, 50 * ms, down, nil, "second", 150 * ms, 0, "won 1", 1, 1},
		{"the second fails", 500 * ms, 50 * ms, nil, down, "first", 500 * ms, 0, "failed 1", 1, 1},
		{"the second is negative", 500 * ms, 50 * ms, nil, no, "first", 500 * ms, 0, "lost 1", 1, 1},
		{"both fail", 500 * ms, 50 * ms, down, down, "", 500 * ms, Unavailable, "failed 1", 1, 1},
		{"it fails, the second is negative", 500 * ms, 50 * ms, down, no, "", 500 * ms, Negative, "won 1", 1, 1},
		{"it is negative at last", 500 * ms, 2 * time.Second, no, nil, "", 500 * ms, Negative, "lost 1", 1, 1},
		{"both are slow", 2 * time.Second, time.Second, nil, nil, "second", 1100 * ms, 0, "won 1", 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHedged(t)
				h.learn()
				one, two := h.first.made(), h.second.made()
				h.first.set(c.first, c.firstErr)
				h.second.set(c.second, c.secondErr)
				source, took, err := h.ask(false)
				synctest.Wait()
				if source != c.source || took != c.took || err != nil && KindOf(err) != c.kind || (err == nil) != (c.source != "") {
					t.Errorf("%q after %v, %v; want %q after %v", source, took, err, c.source, c.took)
				}
				if one, two = h.first.made()-one, h.second.made()-two; one != c.firstMade || two != c.secondMde {
					t.Errorf("%d calls of the first and %d of the second, want %d and %d", one, two, c.firstMade, c.secondMde)
				}
				h.wantHedges(c.hedges)
			})
		})
	}
}

// TestHedgesAreNotMade: where nothing is known, a copy can be served, or the other source
// is not for that.
func TestHedgesAreNotMade(t *testing.T) {
	for name, c := range map[string]struct {
		known, hasCopy bool
		change         func(first, second *SourceConfig)
		prepare        func(h *hedged)
	}{
		"too few calls are known": {known: false},
		"there is a copy":         {known: true, hasCopy: true},
		"it is not declared":      {known: true, change: func(first, _ *SourceConfig) { first.Hedge = false }},
		"the other has a rate": {known: true, change: func(_, second *SourceConfig) {
			second.Quota = (&host.Quotas{}).Get("second", 10, time.Hour)
		}},
		"the other has a secret":        {known: true, change: func(_, second *SourceConfig) { second.Variables = []string{"KEY"} }},
		"the other makes more calls":    {known: true, change: func(_, second *SourceConfig) { second.Kind.Repeatable = false }},
		"the other is a last resort":    {known: true, change: func(_, second *SourceConfig) { second.LastResort = true }},
		"the other's breaker is open":   {known: true, prepare: func(h *hedged) { h.env.Hosts.Get("second").Force(host.ForceOpen) }},
		"the other's retries are spent": {known: true, prepare: func(h *hedged) { spend(h.env.Hosts.Get("second").AllowRetry) }},
		"its own budget is spent":       {known: true, prepare: func(h *hedged) { spend(h.chain.Sources[0].latency.spend) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHedged(t, func(first, second *SourceConfig) {
					if c.change != nil {
						c.change(first, second)
					}
				})
				if c.known {
					h.learn()
				}
				if c.prepare != nil {
					c.prepare(h)
				}
				h.first.set(time.Second, nil)
				if source, took, err := h.ask(c.hasCopy); err != nil || source != "first" || took != time.Second {
					t.Errorf("%s after %v: %v", source, took, err)
				}
				if n := h.second.made(); n > 0 {
					t.Errorf("%d calls of the other", n)
				}
			})
		})
	}
}

func spend(from func() bool) {
	for from() {
	}
}

// TestHedgesAreATenthOfTheCalls: however slow the first source has become. Those that
// could not be made are counted.
func TestHedgesAreATenthOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 20 // fewer than would make slow the usual
		h := newHedged(t)
		h.learn()
		for range latencyWindow {
			h.ask(false)
		}
		h.first.set(time.Second, nil)
		for range calls {
			time.Sleep(time.Minute) // the host's budget is restored
			if _, _, err := h.ask(false); err != nil {
				t.Fatal(err)
			}
		}
		if n := h.second.made(); n < hedgeMost/hedgeCosts || n > hedgeMost/hedgeCosts+calls/hedgeCosts+1 {
			t.Errorf("%d hedges of %d slow calls", n, calls)
		}
	})
}

// TestARefusedHedgeCostsNothing: while the other host's budget is used up, the source's own
// is kept for later.
func TestARefusedHedgeCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHedged(t)
		h.learn()
		spend(h.env.Hosts.Get("second").AllowRetry)
		h.first.set(200*time.Millisecond, nil)
		before := h.chain.Sources[0].latency.budget
		for range 3 {
			h.ask(false)
		}
		if now := h.chain.Sources[0].latency.budget; now < before || h.second.made() > 0 {
			t.Errorf("the budget was %v and is %v after %d hedges", before, now, h.second.made())
		}
	})
}

// TestAHedgeThatPanics is one that fails.
func TestAHedgeThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHedged(t, func(_, second *SourceConfig) { second.Kind.Fetch = panicking{}.Fetch })
		h.learn()
		h.first.set(time.Second, nil)
		if source, _, err := h.ask(false); err != nil || source != "first" {
			t.Errorf("%s, %v", source, err)
		}
		h.wantHedges("failed 1")
		h.first.set(time.Second, &Error{Kind: Unavailable})
		if _, _, err := h.ask(false); KindOf(err) != Unavailable && KindOf(err) != Internal {
			t.Errorf("%v", err)
		}
	})
}

type panicking struct{}

func (panicking) Fetch(context.Context, *Attempt) (*Reply, error) { panic("no") }

// TestACallerThatLeaves ends both attempts, and nobody has outrun anybody.
func TestACallerThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHedged(t)
		h.learn()
		h.first.set(time.Second, nil)
		h.second.set(time.Second, nil)
		ctx, leave := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer leave()
		if _, err := h.chain.Do(ctx, &Call{Endpoint: "e"}, false, nil); err == nil {
			t.Error("an answer after the end")
		}
		synctest.Wait()
		if h.first.given != 1 || h.second.given != 1 {
			t.Errorf("%d and %d calls were cancelled", h.first.given, h.second.given)
		}
		if recent := h.env.Journal.Recent("e", "first"); recent[len(recent)-1].Result == resultOutrun {
			t.Error("nobody answered")
		}
	})
}

func TestWhatIsSlow(t *testing.T) {
	l := &latency{}
	for i := range latencyLeast {
		if _, known := l.slow(); known {
			t.Fatalf("known after %d", i)
		}
		l.observe(time.Millisecond)
	}
	if d, known := l.slow(); !known || d != latencyFloor {
		t.Errorf("%v %v, want the floor", d, known)
	}
	for i := range 10 * latencyWindow {
		l.observe(time.Duration(i%100) * time.Second)
	}
	if d, _ := l.slow(); d < 90*time.Second || d > 97*time.Second {
		t.Errorf("%v of 0 to 99 s", d)
	}
	for range latencyWindow {
		l.observe(time.Second)
	}
	if d, _ := l.slow(); d != time.Second {
		t.Errorf("%v: only the last are remembered", d)
	}
}

// TestLatenciesOutliveAReload: the next compilation of the source knows them.
func TestLatenciesOutliveAReload(t *testing.T) {
	var all Latencies
	before := all.of("e", "s")
	if all.of("e", "s") != before || all.of("e", "other") == before || all.of("other", "s") == before {
		t.Error("one of each source")
	}
}

var errNo = errors.New("no")

// TestWatchersAreCalledOneByOne: and no more once the pass is over.
func TestWatchersAreCalledOneByOne(t *testing.T) {
	n := 0
	w := &watcher{watch: func(AttemptReport) { n++ }}
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { w.see(AttemptReport{Err: errNo}) })
	}
	all.Wait()
	w.end()
	w.see(AttemptReport{})
	if n != 100 {
		t.Errorf("%d of 100", n)
	}
}
