package upstreams

import (
	"testing"
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
