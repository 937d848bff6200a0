package suitetest

import (
	"cmp"
	"strings"
)

// checkSeen compares what the origin saw with what a test says of it.
func (t *running) checkSeen(answers []*answer) *failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := 0
	for i, says := range t.Requests {
		if says.ExpectedType == "cached" {
			continue // the origin does not see it
		}
		var s *seen
		if next < len(t.seen) {
			s = t.seen[next]
		}
		next++
		v := cmp.Or(says.checkArrived(i+1, s), says.checkRequest(i+1, s), says.checkRequestAbsent(i+1, s), says.checkGiven(i+1, s, answers[i]))
		if v != nil {
			return v
		}
	}
	return nil
}

// checkArrived: the request came to the origin, and validates if it is to; nil stands for one that did not come.
func (r *request) checkArrived(number int, s *seen) *failure {
	var needs string
	switch r.ExpectedType {
	case "not_cached":
		if s == nil || s.number != number {
			return fails(r.isSetup("expected_type"), "response %d comes from the cache, says the origin", number)
		}
	case "etag_validated":
		needs = "If-None-Match"
	case "lm_validated":
		needs = "If-Modified-Since"
	}
	if needs != "" && (s == nil || s.header.Get(needs) == "") {
		return fails(r.isSetup("expected_type"), "request %d has no %s at the origin", number, needs)
	}
	return nil
}

func (r *request) checkRequest(number int, s *seen) *failure {
	for _, raw := range r.ExpectedRequest {
		if s == nil {
			return fails(false, "request %d was not sent to the origin", number)
		}
		name, f := nameOf(raw)
		v := strings.Join(s.header.Values(name), ", ")
		if f == nil && v == "" || f != nil && v != f[1] {
			return fails(r.isSetup("expected_request_headers"), "request %d: %s is %q at the origin", number, name, v)
		}
	}
	return nil
}

func (r *request) checkRequestAbsent(number int, s *seen) *failure {
	for _, raw := range r.ExpectedRequestAbsent {
		name, list := nameOf(raw)
		if s == nil {
			return fails(false, "request %d was not sent to the origin", number)
		}
		v := s.header.Get(name)
		if list == nil && v != "" || list != nil && v == list[1] {
			return fails(r.isSetup("expected_request_headers_missing"), "request %d has %s: %q", number, name, v)
		}
	}
	return nil
}

// checkGiven: the caller got what the origin gave.
func (r *request) checkGiven(number int, s *seen, a *answer) *failure {
	if s == nil {
		return nil
	}
	for _, f := range s.response {
		if strings.EqualFold(f.name, "Date") {
			continue
		}
		var want []string
		for _, other := range s.response {
			if strings.EqualFold(other.name, f.name) {
				want = append(want, other.value)
			}
		}
		if v, _ := a.value(f.name); v != strings.Join(want, ", ") {
			return fails(true, "response %d: %s is %q, not %q", number, f.name, v, strings.Join(want, ", "))
		}
	}
	if r.ExpectedMethod != "" && s.method != r.ExpectedMethod {
		return fails(r.isSetup("expected_method"), "request %d: method %s", number, s.method)
	}
	return nil
}
