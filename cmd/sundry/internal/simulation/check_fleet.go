package simulation

import (
	"slices"
	"strings"
	"time"
)

// checkOperators checks O2: an operator's call returns in time.
func (f *fleet) checkOperators() {
	for _, c := range f.changes {
		if c.unsafe() || f.stopped(c.instance, c.sent, c.answered) {
			continue
		}
		if took := c.answered.Sub(c.sent); took > operatorTime {
			f.fail(c.answered, "O2", "an operator waits %s for%s", took, c.event)
		}
	}
}

// checkReplacement checks R3, while the fleet runs: Redis never goes back to an older response.
func (f *fleet) checkReplacement(key string, before, now int) {
	f.origin.mu.Lock()
	defer f.origin.mu.Unlock()
	if f.schedule.Jumps || max(before, now) > len(f.origin.loads) || min(before, now) < 1 {
		return
	}
	f.note(func() {
		if l, newer := f.origin.loads[now-1], f.origin.loads[before-1]; f.older(l, newer) {
			f.fail(time.Now(), "R3", "Redis goes back from load %d to load %d of %s under %s", before, now, l.target, key)
		}
	})
}

// checkLifetimes checks R4: nothing but what operators and the fleet itself write stays in Redis for ever.
func (f *fleet) checkLifetimes() {
	lasting := []string{"sundry:settings", "sundry:status", "sundry:marks"}
	for _, key := range f.redis.Keys() {
		if f.redis.TTL(key) <= 0 && !slices.Contains(lasting, key) && !strings.HasPrefix(key, "sundry:store:") {
			f.fail(f.ended, "R4", "%s stays in Redis for ever", key)
		}
	}
}

// checkRate checks Q1: the source is called no more often than its rate allows, but where Redis lost the count, or an instance could
// not ask the others.
func (f *fleet) checkRate() {
	var calls []*load
	for _, l := range f.origin.loads {
		if !isRated(l.target) {
			continue
		}
		calls = append(calls, l)
		n := len(calls) - 1 - rateCalls
		if n < 0 {
			continue
		}
		// A call is made a moment after it is counted.
		if first := calls[n]; l.began.Sub(first.began) < ratePer-sameTime && !f.troubled(everyone, first.began.Add(-inTouchTime), l.began) {
			f.fail(l.began, "Q1", "%d calls within %s", rateCalls+1, l.began.Sub(first.began))
		}
	}
}

// maxQueue is how many writes of entries to Redis may wait.
const maxQueue = 32768

// checkQueues checks QU1.
func (f *fleet) checkQueues() {
	for _, s := range f.atEnd() {
		entries, known := s.metrics["sundry_far_queue_entries"]
		if waiting := entries + s.metrics["sundry_far_queue_deletes"]; waiting > 0 || !known {
			f.fail(s.received, "QU1", "%v writes of instance %d wait", waiting, s.instance)
		}
	}
}

// checkBounds checks QU2.
func (f *fleet) checkBounds() {
	for _, s := range f.states {
		if waiting := s.metrics["sundry_far_queue_entries"]; waiting > maxQueue {
			f.fail(s.received, "QU2", "%v writes of instance %d wait", waiting, s.instance)
		}
		if used, most := s.metrics["sundry_apis_memory_bytes"], s.metrics["sundry_apis_memory_limit_bytes"]; used > most {
			f.fail(s.received, "QU2", "instance %d keeps %v bytes of APIs in memory, of %v", s.instance, used, most)
		}
	}
}

// checkPanics checks PA.
func (f *fleet) checkPanics() {
	for _, s := range f.states {
		if n := s.metrics["sundry_panics_total"]; n > 0 {
			f.fail(s.received, "PA", "instance %d has caught %v panics", s.instance, n)
		}
	}
}
