package upstreams

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/host"
)

func TestJournalKeepsTheLast(t *testing.T) {
	var j Journal
	for i := range 200 {
		result := "success"
		if i%2 == 1 {
			result = Unavailable.String()
		}
		j.add(Record{Endpoint: "a", Source: "s", Result: result})
		j.add(Record{Endpoint: "a", Source: "s", Result: Skipped.String()})
	}
	recent, failed := j.Recent("a", "s"), j.Failures()
	if len(recent) != recentPerSource || recent[0].ID != 200-recentPerSource+1 || recent[len(recent)-1].ID != 200 {
		t.Errorf("%d notes, %d to %d", len(recent), recent[0].ID, recent[len(recent)-1].ID)
	}
	if len(failed) != recentFailures || failed[0].ID != 2 || failed[len(failed)-1].ID != 200 {
		t.Errorf("%d failures, %d to %d", len(failed), failed[0].ID, failed[len(failed)-1].ID)
	}
	for range 150 {
		j.add(Record{Endpoint: "a", Source: "other", Result: Rejected.String()})
	}
	if len(j.Recent("a", "other")) != recentPerSource || j.Recent("a", "nobody") != nil {
		t.Error("rejected calls are noted; nobody has notes")
	}
	rejected := 0
	for _, n := range j.Failures() {
		if n.Result == Rejected.String() {
			rejected++
		}
	}
	if rejected != 1 {
		t.Errorf("%d rejected calls among the failures, want the first of them", rejected)
	}
}

// TestJournalDoesNotBlameASourceForItsCallers: whoever sends mistakes would drive out what has really failed.
func TestJournalDoesNotBlameASourceForItsCallers(t *testing.T) {
	var j Journal
	j.add(Record{Endpoint: "a", Source: "s", Result: Unavailable.String()})
	for range recentFailures {
		j.add(Record{Endpoint: "a", Source: "s", Result: Invalid.String()})
		j.add(Record{Endpoint: "a", Source: "s", Result: Forbidden.String()})
	}
	if failed := j.Failures(); len(failed) != 1 || failed[0].Result != Unavailable.String() {
		t.Errorf("failures: %v", failed)
	}
	if last, ok := j.LastFailure("a", "s"); !ok || last.Result != Unavailable.String() {
		t.Errorf("last failure: %v", last)
	}
}

func TestJournalCountsTheAnswersOfAnHour(t *testing.T) {
	var j Journal
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for minute, result := range []string{"success", Negative.String(), Unavailable.String(), "success", Throttled.String(), "success"} {
		for range 100 { // more than Recent has
			j.add(Record{Endpoint: "a", Source: "s", Result: result, At: noon.Add(time.Duration(minute) * time.Minute)})
		}
	}
	for after, want := range map[time.Duration]int{5 * time.Minute: 400, time.Hour: 300, 62 * time.Minute: 200, 65 * time.Minute: 0} {
		if n := j.Answers("a", "s", noon.Add(after)); n != want {
			t.Errorf("after %v: %d answers, want %d", after, n, want)
		}
	}
	j.add(Record{Endpoint: "a", Source: "s", Result: "success", At: noon.Add(time.Hour)}) // where noon was
	if n := j.Answers("a", "s", noon.Add(time.Hour)); n != 301 || j.Answers("a", "other", noon) != 0 {
		t.Errorf("%d answers", n)
	}
}

// TestJournalKeepsTheLastFailureOfEachSource: others' failures do not drive it out, nor what a breaker rejects.
func TestJournalKeepsTheLastFailureOfEachSource(t *testing.T) {
	var j Journal
	j.add(Record{Endpoint: "a", Source: "rare", Result: Timeout.String(), Err: "slow"})
	j.add(Record{Endpoint: "a", Source: "none", Result: "success"})
	for range 2 * recentFailures {
		j.add(Record{Endpoint: "a", Source: "rare", Result: Rejected.String(), Err: "circuit breaker is open"})
		j.add(Record{Endpoint: "b", Source: "often", Result: Malformed.String()})
	}
	if f, ok := j.LastFailure("a", "rare"); !ok || f.Err != "slow" {
		t.Errorf("%+v", f)
	}
	if _, ok := j.LastFailure("a", "none"); ok {
		t.Error("a source that answers has failed")
	}
	if failed := j.Failures(); len(failed) != recentFailures+1 || failed[0].Err != "slow" {
		t.Errorf("%d failures, first %+v", len(failed), failed[0])
	}
}

func TestJournalSaysThingsOnce(t *testing.T) {
	for want, err := range map[string]error{
		"status 503: no JSON":  &Error{Kind: Unavailable, Source: "s", Status: 503, Err: errors.New("no JSON")},
		"circuit breaker open": &Error{Kind: Rejected, Source: "s", Err: fmt.Errorf("%w: circuit breaker open", host.ErrRejected)},
		"timeout":              &Error{Kind: Timeout, Source: "s"},
		"other":                errors.New("other"),
		"status 502":           (&Reply{Status: 502, Broken: errors.New("no JSON")}).failure(Unavailable, 0, ""),
		"status 200: no JSON":  (&Reply{Status: 200, Broken: errors.New("no JSON")}).failure(Malformed, 0, ""),
	} {
		if got := CauseOf(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if strings.Contains(err.Error(), "rejected: rejected") {
			t.Errorf("%q says it twice", err)
		}
	}
}
