package suitetest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// check compares an answer with what a test says of it.
func (t *running) check(i int, says *request, a *answer) *failure {
	return cmp.Or(says.checkOnce(a), says.checkType(i+1, a), says.checkStatus(i+1, a), says.checkHeader(i+1, a), says.checkMissing(i+1, a),
		says.checkInterim(i+1, a), t.checkBody(i+1, says, a))
}

// checkOnce: the origin saw no request twice.
func (r *request) checkOnce(a *answer) *failure {
	numbers := strings.Fields(a.header.Get("Request-Numbers"))
	slices.Sort(numbers)
	if len(slices.Compact(slices.Clone(numbers))) != len(numbers) {
		return fails(true, "retry")
	}
	return nil
}

func (r *request) checkType(number int, a *answer) *failure {
	counted, err := strconv.Atoi(a.header.Get("Server-Request-Count"))
	switch r.ExpectedType {
	case "cached":
		withoutCount := a.status == http.StatusNotModified && err != nil // some leave the field out
		if !withoutCount && (err != nil || counted >= number) {
			return fails(r.isSetup("expected_type"), "response %d does not come from the cache: %s", number, a.header.Get("Cache-Status"))
		}
	case "not_cached":
		if counted != number {
			return fails(r.isSetup("expected_type"), "response %d comes from the cache", number)
		}
	}
	return nil
}

func (r *request) checkStatus(number int, a *answer) *failure {
	want, setup := http.StatusOK, true
	switch {
	case string(r.ExpectedStatus) == "null":
		return nil
	case r.ExpectedStatus != nil:
		_ = json.Unmarshal(r.ExpectedStatus, &want)
		setup = r.isSetup("expected_status")
	case len(r.Status) > 0:
		want = int(r.Status[0].(float64))
	case a.status == notConditional:
		return fails(r.isSetup("expected_type"), "request %d is not conditional", number)
	}
	if a.status != want {
		return fails(setup, "response %d: status %d, not %d", number, a.status, want)
	}
	return nil
}

func (r *request) checkHeader(number int, a *answer) *failure {
	setup := r.isSetup("expected_response_headers")
	for _, raw := range r.ExpectedHeaders {
		name, f := nameOf(raw)
		value, ok := a.value(name)
		switch {
		case !ok:
			return fails(setup, "response %d has no %s", number, name)
		case f == nil:
		case len(f) > 2 && f[1] == "=":
			if other, _ := a.value(f[2].(string)); value != other {
				return fails(setup, "response %d: %s %q, not %q", number, name, value, other)
			}
		case len(f) > 2 && f[1] == ">":
			if n, err := strconv.Atoi(value); err != nil || float64(n) <= f[2].(float64) {
				return fails(setup, "response %d: %s %q, not over %v", number, name, value, f[2])
			}
		default:
			if want := r.fixup(f, a.serverNow(), a.header.Get("Server-Base-Url")); value != want {
				return fails(setup, "response %d: %s %q, not %q", number, name, value, want)
			}
		}
	}
	return nil
}

// nameOf reads what stands for a field: its name, or a list that begins with it.
func nameOf(raw json.RawMessage) (name string, list []any) {
	if json.Unmarshal(raw, &name) == nil {
		return name, nil
	}
	_ = json.Unmarshal(raw, &list)
	return list[0].(string), list
}

func (r *request) checkMissing(number int, a *answer) *failure {
	for _, raw := range r.ExpectedMissing {
		if name, list := nameOf(raw); list == nil {
			if v, ok := a.value(name); ok {
				return fails(r.isSetup("expected_response_headers_missing"), "response %d has %s: %q", number, name, v)
			}
		}
	}
	return nil
}

func (r *request) checkInterim(number int, a *answer) *failure {
	if r.ExpectedInterim == nil {
		return nil
	}
	setup := r.isSetup("expected_interim_responses")
	if len(a.interim) != len(*r.ExpectedInterim) {
		return fails(setup, "response %d: %d interim responses, not %d", number, len(a.interim), len(*r.ExpectedInterim))
	}
	for i, raw := range *r.ExpectedInterim {
		var want []any
		_ = json.Unmarshal(raw, &want)
		if a.interim[i].code != int(want[0].(float64)) {
			return fails(setup, "response %d: interim %d is %d", number, i, a.interim[i].code)
		}
		if len(want) < 2 {
			continue
		}
		for _, f := range want[1].([]any) {
			if _, ok := a.interim[i].header[http.CanonicalHeaderKey(f.([]any)[0].(string))]; !ok {
				return fails(setup, "response %d: interim %d has no %v", number, i, f)
			}
		}
	}
	return nil
}

func (t *running) checkBody(number int, says *request, a *answer) *failure {
	want, setup := t.uuid, true
	switch {
	case says.CheckBody != nil && !*says.CheckBody, string(says.ExpectedText) == "null":
		return nil
	case says.ExpectedText != nil:
		_ = json.Unmarshal(says.ExpectedText, &want)
		setup = says.isSetup("expected_response_text")
	case says.ResponseBody != nil:
		want = *says.ResponseBody
	case a.status == http.StatusNoContent, a.status == http.StatusNotModified, says.Method == http.MethodHead:
		return nil
	}
	if a.body != want {
		return fails(setup, "response %d: body %q, not %q", number, a.body, want)
	}
	return nil
}
