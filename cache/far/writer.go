package far

import (
	"errors"
	"slices"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
)

// maxAge is how long a value may wait in the queue: older ones would only delay
// newer ones. Deletions have no such limit.
const maxAge = 10 * time.Second

// What could not be sent is sent again after sendPause: the breaker decides how often Redis
// is tried, and others wait for what is written and released. A deletion that Redis
// refuses is made again after firstRetry, then after twice as long each time, up to
// lastRetry, until it succeeds.
const (
	sendPause  = 50 * time.Millisecond
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// maxAlone is how often a value may fail by itself, because it takes too long to
	// send.
	maxAlone = 3
)

// writer carries out the writes of one shard, all that wait in one pipeline.
type writer struct {
	tier  *Tier
	shard *shard
	// failing: nothing of the last pipeline could be sent.
	failing  bool
	resumeAt time.Time
	// retries are the deletions that Redis refused, or that are to be made again.
	retries []*job
	backoff time.Duration
	due     time.Time
	last    bool // the retries of a closed queue were made
	// unknownAt is when the outcome of a value's write was last unknown: what was
	// sent may still arrive.
	unknownAt time.Time
}

// run ends once the queue is closed and the shard is empty.
func (w *writer) run() {
	for {
		closed, discarded := w.tier.queue.ended()
		if wait := time.Until(w.resumeAt); wait > 0 && !discarded {
			w.sleep(wait)
			continue
		}
		if jobs := w.next(time.Now(), closed, discarded); len(jobs) > 0 {
			w.process(jobs)
			continue
		}
		if closed {
			w.drop(w.retries...)
			return
		}
		if wait := time.Until(w.due); wait > 0 || len(w.retries) == 0 {
			w.sleep(wait)
		}
	}
}

// next is what is to be sent; nothing while nothing waits. What is too old is dropped.
func (w *writer) next(now time.Time, closed, discarded bool) (jobs []*job) {
	for len(jobs) == 0 {
		taken := w.take(now, closed)
		if len(taken) == 0 {
			return nil
		}
		for _, j := range taken {
			switch {
			case discarded, !j.deletion() && now.Sub(j.at) > maxAge:
				w.drop(j)
			case j.kind == releasing && now.Sub(j.at) > j.ttl: // nobody holds it any more
				w.tier.queue.done(w.shard, j)
			default:
				jobs = append(jobs, j)
			}
		}
	}
	return jobs
}

// take takes what waits, behind the deletions to be retried if that is due, or if one of
// them is of a key that is to be written. While nothing can be sent it is one write, to
// try; in a Cluster that may be of a node that is away, so there it is as many as ever.
func (w *writer) take(now time.Time, closed bool) []*job {
	most := maxPipeline
	if w.failing && !w.tier.cluster {
		most = 1
	}
	taken := w.tier.queue.take(w.shard, most)
	if len(w.retries) > 0 && (!now.Before(w.due) || closed && !w.last || slices.ContainsFunc(taken, w.isToBeDeleted)) {
		taken, w.retries = slices.Concat(w.retries, taken), nil
		w.last = closed
	}
	return taken
}

// isToBeDeleted reports whether a deletion of the write's key is to be retried.
func (w *writer) isToBeDeleted(j *job) bool {
	return slices.ContainsFunc(w.retries, func(deletion *job) bool { return deletion.key == j.key })
}

// sleep waits for a write, or for that long, if that is positive.
func (w *writer) sleep(most time.Duration) {
	var due <-chan time.Time
	if most > 0 {
		t := time.NewTimer(most)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-w.shard.wake:
	case <-due:
	}
}

// process sends writes, and does with each what its outcome asks for. None is sent before it can be dated: one that fails, and is sent
// again, would seem to be made when it arrives.
func (w *writer) process(jobs []*job) {
	if err := w.tier.learnClock(); err != nil {
		for range jobs {
			w.tier.metrics.wrote(err)
		}
		w.sendAgain(jobs, false)
		return
	}
	sent, panicked := w.withReleases(w.make(jobs)), true
	defer func() {
		if panicked {
			w.drop(sent...)
		}
	}()
	outcomes := w.tier.carryOut(sent)
	panicked = false
	var again, alone []*job
	for i, j := range sent {
		o, release := outcomes[i], j.release
		j.release = nil
		if !w.ended(j, o) {
			again = append(again, j)
		}
		switch {
		case release == nil:
		case o.err == nil && !o.leased:
			w.tier.queue.done(w.shard, release)
		case o.leased, isReply(o.err), errors.Is(o.err, errPaused):
			alone = append(alone, release)
		default:
			again = append(again, release)
		}
	}
	if len(w.retries) == 0 {
		w.backoff = 0
	}
	w.sendAgain(again, len(again) < len(sent))
	if len(alone) > 0 {
		w.process(alone)
	}
}

// withReleases has each release go along with the write before it of the same key, if
// nothing else of it comes between: most misses end with the two. One that failed is sent by
// itself. In a Cluster, a command with several keys is refused while their slot moves.
func (w *writer) withReleases(jobs []*job) []*job {
	if w.tier.cluster || len(jobs) == 1 || w.tier.writes.refusals.pausing(time.Now()) {
		return jobs
	}
	last := map[string]*job{}
	return slices.DeleteFunc(jobs, func(j *job) bool {
		before := last[j.cacheKey]
		last[j.cacheKey] = j
		if j.kind != releasing || before == nil || before.kind != writing || before.tried || j.tried || before.release != nil {
			return false
		}
		before.release, last[j.cacheKey] = j, before
		return true
	})
}

// ended does with a write what its outcome asks for; false when it could not be sent.
// Values that Redis refuses for good are given up, or deletions would wait for them.
func (w *writer) ended(j *job, o outcome) bool {
	switch {
	case o.err == nil:
		w.succeeded(j, o)
	case isReply(o.err) && j.deletion():
		w.retryLater(j, 2*w.backoff)
	case isReply(o.err) && !notYet(o.err), errors.Is(o.err, errPaused), !j.deletion() && j.failures >= maxAlone:
		w.tier.queue.done(w.shard, j)
	default:
		if !rejected(o.err) && !j.deletion() {
			w.unknownAt = time.Now()
		}
		j.tried = true
		return false
	}
	return true
}

// make makes the values of the writes that are sent for the first time. What has none,
// because it was purged since, is done.
func (w *writer) make(jobs []*job) (sent []*job) {
	for _, j := range jobs {
		w.tier.cfg.Panics.Func(panics.FarWrite, func() { w.makeValue(j) })()
		if j.deletion() || j.value != nil {
			sent = append(sent, j)
		} else {
			w.tier.queue.done(w.shard, j)
		}
	}
	return sent
}

func (w *writer) makeValue(j *job) {
	if j.make == nil {
		return
	}
	entry, ttl := j.make()
	if j.make = nil; ttl >= time.Millisecond {
		j.value, j.ttl = seal(j.cacheKey, j.replaceable, w.tier.clock.ofFleet(j.created), entry), ttl
	}
}

// succeeded ends a write that was carried out. After a write whose outcome is unknown,
// deletions are made twice: a value under way in a broken connection may arrive after
// the first.
func (w *writer) succeeded(j *job, o outcome) {
	if j.kind == deleting && time.Since(w.unknownAt) <= 2*lastRetry && !j.repeated {
		j.repeated = true
		w.retryLater(j, lastRetry)
		return
	}
	if j.purged != nil && !o.marked.IsZero() {
		w.tier.cfg.Panics.Func(panics.FarWrite, func() { j.purged(o.marked) })()
	}
	w.tier.queue.done(w.shard, j)
}

// retryLater retries a deletion after the pause at the latest.
func (w *writer) retryLater(j *job, pause time.Duration) {
	if len(w.retries) == 0 {
		w.backoff = min(max(pause, firstRetry), lastRetry)
		w.due = time.Now().Add(jitter.Around(w.backoff, spread))
	}
	w.retries = slices.DeleteFunc(w.retries, func(k *job) bool {
		same := k.same(j)
		if same {
			w.tier.queue.done(w.shard, k)
		}
		return same
	})
	w.retries = append(w.retries, j)
}

// sendAgain puts back what could not be sent, and pauses; at the end it drops it. Where
// others could be sent, one node of a Cluster is away, and those go first from now on.
func (w *writer) sendAgain(jobs []*job, others bool) {
	if w.failing = !others && len(jobs) > 0; len(jobs) == 0 {
		return
	}
	if closed, _ := w.tier.queue.ended(); closed {
		w.drop(jobs...)
		return
	}
	w.tier.queue.putBack(w.shard, jobs, others)
	w.resumeAt = time.Now().Add(jitter.Around(sendPause, spread))
}

func (w *writer) drop(jobs ...*job) {
	for _, j := range jobs {
		w.tier.metrics.dropped.Inc()
		w.tier.queue.done(w.shard, j)
		if j.release != nil {
			w.drop(j.release)
		}
	}
}
