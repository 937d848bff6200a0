package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What a steady load asks for.
const (
	hits      = "hits"      // what every instance has in memory, fresh for an hour
	refreshed = "refreshed" // what is refreshed every second or so, behind the requests
	misses    = "misses"    // what no instance has seen before
	control   = "control"   // hits of an instance that has no Redis
)

const (
	hitKeys       = 50
	refreshedKeys = 20
)

// steadyLoad asks the instances of a fleet in turn, so many times a second whatever they
// answer: a tenth is for keys never seen, each of which is asked for at every instance, a
// tenth for keys that are refreshed all the time, the rest are hits. An instance without
// Redis gets some of the hits too: it shows what the machine makes of a request at that
// moment, and whether it can make so many.
type steadyLoad struct {
	t       testing.TB
	fleet   []*sibling
	control *sibling
	client  *http.Client

	mu      sync.Mutex
	pace    pace
	newKey  func(n int) int // the id of the n-th key never seen
	answers []answered
	wrong   []string
}

// answered is a request with its answer. Its time counts from when it was due.
type answered struct {
	kind string
	by   string // the host that answered
	due  time.Time
	took time.Duration
}

// newSteadyLoad is ready to run: all has been asked for once that is to be a hit.
func newSteadyLoad(t testing.TB, rate float64, fleet []*sibling, control *sibling) *steadyLoad {
	t.Helper()
	l := &steadyLoad{t: t, fleet: fleet, control: control, pace: newPace(rate), client: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true}, Timeout: 10 * time.Second,
	}}
	l.newKeys(func(n int) int { return 1000 + n })
	for _, m := range append([]*sibling{control}, fleet...) {
		for id := range hitKeys {
			mustGet(t, m.own(id))
		}
	}
	return l
}

// own is the address of a key of the endpoint of that name.
func (m *sibling) own(id int) string { return fmt.Sprintf("%s/api/own?id=%d", m.public, id+1) }

// newKeys are those of misses from now on.
func (l *steadyLoad) newKeys(id func(n int) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.newKey = id
}

// run asks until ctx ends, and waits for the answers.
func (l *steadyLoad) run(ctx context.Context) {
	var requests sync.WaitGroup
	defer requests.Wait()
	defer l.client.CloseIdleConnections()
	due := time.Now()
	for n := 0; sleepUntil(ctx, due); n++ {
		at := due
		requests.Go(func() { l.ask(n, at) })
		due = due.Add(l.interval())
	}
}

// sleepUntil returns false once ctx has ended.
func sleepUntil(ctx context.Context, at time.Time) bool {
	if wait := time.Until(at); wait > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return ctx.Err() == nil
}

func (l *steadyLoad) interval() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pace.interval()
}

// ask makes the n-th request.
func (l *steadyLoad) ask(n int, due time.Time) {
	kind, url, id := l.request(n)
	wrong := l.call(kind, url, id)
	a := answered{kind: kind, by: hostOf(url), due: due, took: time.Since(due)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers = append(l.answers, a)
	if kind == control {
		l.pace.note(a.took, time.Now())
	}
	if wrong != "" {
		l.wrong = append(l.wrong, fmt.Sprintf("%s: %s after %v: %s", kind, url, a.took, wrong))
	}
}

// request is the n-th: of each twenty, two are misses, two are for what is refreshed, and
// two are those of the control.
func (l *steadyLoad) request(n int) (kind, url string, id int) {
	member, nth := l.fleet[n%len(l.fleet)], 2*(n/20)+n%2
	switch n % 20 {
	case 0, 1:
		l.mu.Lock()
		defer l.mu.Unlock()
		id := l.newKey(nth / len(l.fleet))
		return misses, l.fleet[nth%len(l.fleet)].own(id), id
	case 10, 11:
		id := nth % refreshedKeys
		return refreshed, strings.Replace(member.own(id), "own", "news", 1), id
	case 5, 15:
		return control, l.control.own(n % hitKeys), n % hitKeys
	}
	return hits, member.own(n % hitKeys), n % hitKeys
}

// call makes a request, and says what is wrong with the answer.
func (l *steadyLoad) call(kind, url string, id int) string {
	resp, err := l.client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	status := resp.Header.Get("Cache-Status")
	switch {
	case err != nil:
		return err.Error()
	case resp.StatusCode != http.StatusOK || !strings.Contains(string(body), fmt.Sprintf(`"id":"%d"`, id+1)):
		return fmt.Sprintf("%d %s", resp.StatusCode, body)
	case (kind == hits || kind == control) && !strings.Contains(status, "hit"):
		return "it is none: " + status
	}
	return ""
}

// between are the latencies of a kind of requests that were due then.
func (l *steadyLoad) between(kind string, from, to time.Time) (took []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.answers {
		if a.kind == kind && !a.due.Before(from) && a.due.Before(to) {
			took = append(took, a.took)
		}
	}
	return took
}

// quantileOf is the latency that a share q of all did not exceed; 0 of none. It sorts.
func quantileOf(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))]
}

// quantile of the latencies of what was due then.
func (l *steadyLoad) quantile(q float64, kind string, from, to time.Time) time.Duration {
	return quantileOf(l.between(kind, from, to), q)
}

// typical is the quantile of the instance that is neither the best nor the worst. What
// Redis does to hits it does to all; that one process has to wait for a processor is
// nothing of its doing.
func (l *steadyLoad) typical(q float64, kind string, from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	took := map[string][]time.Duration{}
	for _, a := range l.answers {
		if a.kind == kind && !a.due.Before(from) && a.due.Before(to) {
			took[a.by] = append(took[a.by], a.took)
		}
	}
	var each []time.Duration
	for _, m := range l.fleet {
		each = append(each, quantileOf(took[hostOf(m.public)], q))
	}
	slices.Sort(each)
	return each[len(each)/2]
}

func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// failures takes the first of what was wrong since the last call, and how much there was.
func (l *steadyLoad) failures() (first []string, all int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, all = l.wrong[:min(5, len(l.wrong))], len(l.wrong)
	l.wrong = nil
	return first, all
}

// pace is the rate of a load: the one that is wanted, or less while the machine cannot
// make it. It is told what requests take that nothing can delay but the machine.
type pace struct {
	wanted, rate, lowest float64
	changed              time.Time
}

const (
	tooLate    = 50 * time.Millisecond
	leastRate  = 50
	paceChange = 250 * time.Millisecond
)

func newPace(wanted float64) pace { return pace{wanted: wanted, rate: wanted, lowest: wanted} }

// interval between requests, those of the control included.
func (p *pace) interval() time.Duration {
	return time.Duration(float64(time.Second) * 18 / 20 / p.rate)
}

// note halves the rate when a request took too long, and raises it again by and by.
func (p *pace) note(took time.Duration, now time.Time) {
	switch {
	case now.Sub(p.changed) < paceChange:
		return
	case took > tooLate:
		p.rate = max(p.rate/2, leastRate)
		p.lowest = min(p.lowest, p.rate)
	case p.rate == p.wanted:
		return
	default:
		p.rate = min(p.rate*1.2, p.wanted)
	}
	p.changed = now
}

// TestPace: less is offered while the machine is slow, and never less than a little.
func TestPace(t *testing.T) {
	t.Parallel()
	p, now := newPace(1000), time.Now()
	for i, step := range []struct {
		after, took time.Duration
		want        float64
	}{
		{0, tooLate, 1000},
		{0, tooLate + 1, 500},
		{paceChange / 2, time.Hour, 500}, // requests of before
		{paceChange, time.Hour, 250},
		{paceChange, 0, 300},
		{paceChange, 0, 360},
		{paceChange, time.Hour, 180},
		{paceChange, time.Hour, 90},
		{paceChange, time.Hour, leastRate},
		{paceChange, time.Hour, leastRate},
	} {
		now = now.Add(step.after)
		if p.note(step.took, now); p.rate != step.want {
			t.Errorf("step %d: %v, want %v", i, p.rate, step.want)
		}
	}
	for range 30 {
		now = now.Add(paceChange)
		p.note(0, now)
	}
	if p.rate != p.wanted || p.lowest != leastRate || p.interval() != 900*time.Microsecond {
		t.Errorf("%+v: a request every %v", p, p.interval())
	}
}
