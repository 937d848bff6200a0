package simulation

import (
	"encoding/json"
	"fmt"
	"net/http"
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

// checkCalls checks C1: while all is well, one call for a key of the endpoint is under way in the whole fleet.
func (f *fleet) checkCalls() {
	for n, l := range f.origin.loads {
		for _, before := range f.origin.loads[:n] {
			if l.target != before.target || isAPI(l.target) || before.ended.Before(l.began) {
				continue
			}
			if !f.troubled(everyone, before.began.Add(-inTouchTime), l.began) && !f.purgedBetween(before.began.Add(-inTouchTime), l.began) {
				f.fail(l.began, "C1", "load %d of %s begins while load %d goes on", l.number, l.target, before.number)
			}
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
	if l, newer := f.origin.loads[now-1], f.origin.loads[before-1]; older(l, newer) {
		f.broken("R3", "Redis goes back from load %d to load %d of %s under %s", before, now, l.target, key)
	}
}

// checkRate checks Q1: the source is called no more often than its rate allows, but where Redis lost the count, or an instance could
// not ask the others.
func (f *fleet) checkRate() {
	var calls []*load
	for _, l := range f.origin.loads {
		if !strings.HasPrefix(l.target, "/rated") {
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

// purgedBetween reports whether anything was purged in a period.
func (f *fleet) purgedBetween(from, to time.Time) bool {
	for _, c := range f.changes {
		if c.sent.Before(to) && c.answered.After(from) {
			return true
		}
	}
	return false
}

// state is what operators see of an instance.
type state struct {
	ttl     any // of the endpoint, which operators change
	pending float64
	inSync  bool
}

// look asks all instances for what operators see.
func (f *fleet) look() {
	for _, i := range f.instances {
		var endpoints struct{ Endpoints []map[string]any }
		var overview map[string]any
		f.ask(i, "endpoints", &endpoints)
		f.ask(i, "overview", &overview)
		s := state{}
		for _, e := range endpoints.Endpoints {
			if policy, ok := e["policy"].(map[string]any); ok && e["name"] == "own" {
				s.ttl = policy["ttl"]
			}
		}
		s.pending, _ = overview["pending"].(float64)
		s.inSync, _ = overview["in_sync"].(bool)
		f.states = append(f.states, s)
	}
}

// ask reads from the admin API of an instance, which must answer.
func (f *fleet) ask(i *instance, path string, into any) {
	if err := i.read(path, into); err != nil {
		f.broken("ST", "instance %d: %s", i.number, err)
	}
}

// read reads from the admin API of an instance.
func (i *instance) read(path string, into any) error {
	got, err := i.admin.send(http.MethodGet, adminURL+path, http.Header{}, nil)
	switch {
	case err != nil:
		return err
	case got.status != http.StatusOK:
		return fmt.Errorf("%s: %d %s", path, got.status, got.body)
	}
	return json.Unmarshal(got.body, into)
}

// checkSettings checks ST: at the end all instances have the same settings, and nothing is pending.
func (f *fleet) checkSettings() {
	for n, s := range f.states {
		if s.pending != 0 || !s.inSync {
			f.fail(f.ended, "ST", "instance %d has %v pending changes; in sync: %v", n, s.pending, s.inSync)
		}
		if s.ttl != f.states[0].ttl {
			f.fail(f.ended, "ST", "instance %d has a TTL of %v, and instance 0 of %v", n, s.ttl, f.states[0].ttl)
		}
	}
}
