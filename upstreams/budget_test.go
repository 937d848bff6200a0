package upstreams

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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
			calls.Go(func() { _, _ = s.do(t.Context(), &Call{}, nil) })
		}
		calls.Wait()
	})
	if peak>>20 > 400 {
		t.Errorf("%d MiB at the peak", peak>>20)
	}
	if a, err := s.do(t.Context(), &Call{}, nil); KindOf(err) == Busy {
		t.Errorf("the budget was not given back: %v %v", a.Data, err)
	}
}

func TestAllowances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Budget{Limit: 100}
		one, two := allowance{budget: b}, allowance{budget: b}
		if err := one.take(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := two.take(t.Context(), 60); KindOf(err) != Busy || time.Since(start) != budgetTime {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := one.take(t.Context(), 60); KindOf(err) != Malformed || time.Since(start) != budgetTime {
			t.Errorf("past the whole budget: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := two.take(ended, 60); err == nil || KindOf(err) == Busy {
			t.Errorf("a caller who left: %v", err)
		}
		released := make(chan struct{})
		go func() { time.Sleep(time.Second); one.release(); close(released) }()
		start = time.Now()
		if err := two.take(t.Context(), 60); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		<-released
		two.release()
		two.release()
		if err := one.take(t.Context(), 100); err != nil {
			t.Errorf("after all was given back: %v", err)
		}
	})
	var none allowance
	if err := none.take(t.Context(), 1<<40); err != nil {
		t.Errorf("without a budget: %v", err)
	}
	none.release()
}

func TestWeigh(t *testing.T) {
	for text, want := range map[string]weight{
		``:                       {0, 0, 0},
		`1`:                      {0, 0, 0},
		`"a\"]["`:                {6, 1, 0},
		`[]`:                     {containerSize, 1, 1},
		`[1,2]`:                  {containerSize, 2, 1},
		`{"a":[{}]}`:             {3*containerSize + 2, 4, 3},
		`"unfinished [[[`:        {15, 1, 0},
		`]]][`:                   {containerSize, 1, 0},
		strings.Repeat("[", 200): {200 * containerSize, 200, 200},
	} {
		want.size += want.values * valueSize
		if got := weigh([]byte(text)); got != want {
			t.Errorf("%.20s: %+v, want %+v", text, got, want)
		}
	}
	for _, text := range []string{strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "[" + strings.Repeat("1,", maxValues) + "1]"} {
		if _, err := decodeJSON([]byte(text)); err == nil {
			t.Errorf("%.20s… was decoded", text)
		}
	}
	if _, err := decodeJSON([]byte(strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth))); err != nil {
		t.Error(err)
	}
}
