package upstreams

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"sundry/metrics/panics"
)

// errOutrun is why an attempt was cancelled: another source answered first. net/http
// returns it as it is, so it is a context.Canceled, which counts against no host.
var errOutrun = fmt.Errorf("another source answered first: %w", context.Canceled)

// outrun reports whether an attempt with this context was cancelled because another
// source answered first.
func outrun(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errOutrun) }

// MayHedge says what keeps the source from being asked beside another; nil: nothing. It
// must cost its service no more than one GET, and the operator nothing.
func (s *Source) MayHedge() error {
	switch {
	case !s.Kind.Repeatable, len(s.Before) > 0, s.Picture != nil:
		return errors.New("it makes more than one GET")
	case s.Quota != nil:
		return errors.New("it has a rate")
	case len(s.Variables) > len(s.Options):
		return errors.New("it has secrets")
	case s.LastResort, s.After != "":
		return errors.New("it is asked after others only")
	}
	return nil
}

// hedge is an attempt of the next source, which begins while the one before it is asked
// and slow. Where that fails in the end, the chain goes on with this one.
type hedge struct {
	pass                         // as it was when the hedge was prepared
	slow, index  int             // of the two sources in the plan
	within       context.Context //nolint:containedctx // of the attempt
	end          context.CancelCauseFunc
	outrunBefore context.CancelCauseFunc // ends the attempt before
	done         chan struct{}           // closed when it has ended, or is not to begin

	mu     sync.Mutex
	begun  bool // false: its time has not come, or it was too expensive
	over   bool // it is not to begin any more
	answer Answer
	err    error
}

// newHedge prepares the hedge of an attempt that is due; nil: the source is not hedged,
// there is none that could be asked, or a copy can be served, so that nobody waits for
// long. after is when it is to begin.
func (p *pass) newHedge(i int) (h *hedge, after time.Duration) {
	t := &p.plan[i]
	if t.source.latency == nil || p.hasCopy || p.hedge != nil || !t.serves {
		return nil, 0
	}
	t.source.latency.earn()
	after, known := t.source.latency.slow()
	j := p.nextServing(i)
	if !known || j < 0 || p.plan[j].source.MayHedge() != nil || p.plan[j].source.rejects() {
		return nil, 0
	}
	h = &hedge{pass: *p, slow: i, index: j, done: make(chan struct{})}
	h.within, h.end = context.WithCancelCause(p.ctx)
	return h, after
}

// nextServing is the index of the next source that serves the call; -1: there is none.
func (p *pass) nextServing(i int) int {
	for j := i + 1; j < len(p.plan); j++ {
		if p.plan[j].serves {
			return j
		}
	}
	return -1
}

// race makes an attempt, and the hedge beside it once that is slow. The first good
// answer wins; whoever fails, or answers negatively, waits for the other.
func (p *pass) race(h *hedge, after time.Duration, until time.Time) (Answer, error) {
	ctx, cancel := context.WithCancelCause(p.ctx)
	defer cancel(nil)
	p.hedge, h.outrunBefore = h, cancel
	timer := time.AfterFunc(after, h.panics().Func(panics.Hedge, h.run))
	answer, err := p.plan[h.slow].ask(ctx, until, p)
	if timer.Stop() {
		h.end(nil)
		p.hedge = nil
	} else if err != nil && outrun(ctx) {
		answer, _, err = h.wait()
		p.ended = h.index
	}
	return answer, err
}

// run makes the attempt, if the budgets allow it.
func (h *hedge) run() {
	defer close(h.done)
	if !h.begin() {
		return
	}
	answer, err := h.askSafely()
	h.mu.Lock()
	h.answer, h.err = answer, err
	h.mu.Unlock()
	if err == nil {
		h.outrunBefore(errOutrun)
	}
}

// begin takes the hedge from the budgets of the source that is slow and of the host of
// the other one. It returns false where there is too little in one of them, and when the
// pass is over.
func (h *hedge) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return false
	}
	if h.begun = h.afford(); !h.begun {
		h.chain.metrics.hedges.refused.Inc()
	}
	return h.begun
}

// afford takes the hedge from both budgets, or from none.
func (h *hedge) afford() bool {
	own := h.plan[h.slow].source.latency
	if !own.spend() {
		return false
	}
	if !h.plan[h.index].source.Kind.Host.AllowRetry() {
		own.refund()
		return false
	}
	return true
}

// panics are caught where the service has it.
func (h *hedge) panics() *panics.Catcher { return h.plan[h.index].source.env.Panics }

// askSafely turns a panic into an error, so that the attempt beside it goes on.
func (h *hedge) askSafely() (answer Answer, err error) {
	defer h.panics().Catch(panics.Hedge, &err)
	return h.plan[h.index].ask(h.within, allot(h.remoteUntil, h.plan[h.index:]), &h.pass)
}

// wait waits until the attempt has ended; begun is false where it is still to be made.
func (h *hedge) wait() (answer Answer, begun bool, err error) {
	<-h.done
	return h.answer, h.begun, h.err
}

// finish cancels the hedge of a pass that has ended, and counts how that went. It does
// not wait for it.
func (p *pass) finish() {
	h := p.hedge
	if h == nil {
		return
	}
	h.end(errOutrun)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	switch counters := p.chain.metrics.hedges; {
	case !h.begun:
	case p.ended == h.index:
		counters.won.Inc()
	case h.err != nil && KindOf(h.err) != Negative:
		counters.failed.Inc()
	default:
		counters.lost.Inc()
	}
}

// watcher calls a function that watches attempts for those that are made at the same
// time, one call after another, and not any more once the pass has ended.
type watcher struct {
	mu    sync.Mutex
	watch func(AttemptReport) // nil: the pass has ended
}

func (w *watcher) see(a AttemptReport) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watch != nil {
		w.watch(a)
	}
}

func (w *watcher) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watch = nil
}

const (
	// latencyWindow is how many attempts of a source are remembered, latencyLeast how
	// many there must be before they say anything.
	latencyWindow, latencyLeast = 128, 32
	// latencyShare of the attempts are expected to take no longer than what is slow.
	latencyShare = 0.95
	// latencyFloor is the shortest that counts as slow: below it, a second call gains
	// nothing that anybody would notice.
	latencyFloor = 100 * time.Millisecond
)

// Hedges are bounded by a budget: a call earns hedgeEarns, a hedge costs hedgeCosts, and
// no more than hedgeMost is saved. So they are a tenth of the calls, or three at once.
const hedgeEarns, hedgeCosts, hedgeMost = 1, 10, 30

// Latencies are how long the attempts of sources took that may be hedged. They outlive
// a reload. The zero value is empty and ready to use.
type Latencies struct {
	mu       sync.Mutex
	bySource map[sourceID]*latency
}

// of returns that of a source, new when there is none yet.
func (l *Latencies) of(endpoint, source string) *latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := sourceID{endpoint, source}
	if one := l.bySource[id]; one != nil {
		return one
	}
	if l.bySource == nil {
		l.bySource = map[sourceID]*latency{}
	}
	one := &latency{}
	l.bySource[id] = one
	return one
}

// latency is how long the last attempts of a source took, and its budget of hedges. It
// is safe for concurrent use.
type latency struct {
	mu     sync.Mutex
	took   [latencyWindow]time.Duration // a ring
	n      int                          // that were observed so far
	budget int
}

// observe takes note of an attempt that was answered, or of one that was given up after
// that long: it would have taken longer.
func (l *latency) observe(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took[l.n%latencyWindow] = took
	l.n++
}

// slow is how long an attempt takes that is slow; false: too few were observed.
func (l *latency) slow() (time.Duration, bool) {
	l.mu.Lock()
	known := min(l.n, latencyWindow)
	took := l.took
	l.mu.Unlock()
	if known < latencyLeast {
		return 0, false
	}
	slices.Sort(took[:known])
	return max(latencyFloor, took[int(latencyShare*float64(known-1))]), true
}

// earn adds to the budget what a call earns.
func (l *latency) earn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = min(hedgeMost, l.budget+hedgeEarns)
}

// spend takes a hedge from the budget; false: it is used up.
func (l *latency) spend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.budget < hedgeCosts {
		return false
	}
	l.budget -= hedgeCosts
	return true
}

// refund gives a hedge back that was not made.
func (l *latency) refund() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.budget = min(hedgeMost, l.budget+hedgeCosts)
}
