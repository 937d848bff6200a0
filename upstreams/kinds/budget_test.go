package kinds

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/heaptest"
)

// Sixty-four replies that are small on the wire and large in memory, all at
// once, stay within the budget.
func TestHostileRepliesShareABudget(t *testing.T) {
	hostile := "[" + strings.Repeat("[],", 680_000) + "[]]"
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, hostile) })
	env := environment(t)
	s := compile(t, env, "name: one\ntimeout: 60s\nhttp: {url: "+url+"/, max_kib: 8192}\nmap: sort_by(.) | length\n")
	peak := heaptest.Peak(func() {
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() { _, _ = s.Probe(t.Context(), &upstreams.Call{}, nil) })
		}
		calls.Wait()
	})
	if peak>>20 > 400 {
		t.Errorf("%d MiB at the peak", peak>>20)
	}
	if a, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) == upstreams.Busy {
		t.Errorf("the budget was not given back: %v %v", a.Data, err)
	}
}
