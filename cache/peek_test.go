package cache

import (
	"errors"
	"testing"
	"time"
)

// TestPeekAnswersWhatNeedsNoWaiting, and leaves the rest to Await.
func TestPeekAnswersWhatNeedsNoWaiting(t *testing.T) {
	rows := map[string]struct {
		after time.Duration
		ready bool
		state State
		calls int64 // of the loader, a moment later
	}{
		"fresh":                      {time.Second, true, Fresh, 1},
		"within grace":               {2 * time.Minute, true, Grace, 2},
		"to stand in for an error":   {30 * time.Minute, false, Stale, 1},
		"past every use of it":       {3 * time.Hour, false, Gone, 1},
		"of a key that is not there": {-1, false, Absent, 0},
	}
	for what, row := range rows {
		t.Run(what, func(t *testing.T) {
			l := &script{}
			story(t, usual(), l, func(t *testing.T, s *Space) {
				if row.after >= 0 {
					mustFetch(t, s, "k", l)
					time.Sleep(row.after)
				}
				hit, ready := s.Peek(t.Context(), "k", Want{}, l)
				if ready != row.ready || hit.State != row.state {
					t.Errorf("ready %v, state %v", ready, hit.State)
				}
				time.Sleep(time.Second)
				wantCalls(t, l, row.calls)
			})
		})
	}
}

// TestFallback: only what may stand in does, as long as it may.
func TestFallback(t *testing.T) {
	l, errFull := &script{}, errors.New("no room")
	story(t, usual(), l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(30 * time.Minute)
		seen, _ := s.Peek(t.Context(), "k", Want{}, l)
		hit, ok := s.Fallback("k", &seen, errFull)
		if !ok || !errors.Is(hit.Failed, errFull) {
			t.Errorf("%v %+v", ok, hit)
		}
		wantText(t, hit, "answer 1")
		if _, ok := s.Fallback("nothing", &Hit{}, errFull); ok {
			t.Error("nothing stood in")
		}
		s.Drop("k", time.Now())
		if _, ok := s.Fallback("k", &seen, errFull); ok {
			t.Error("what was dropped meanwhile stood in")
		}
	})
}
