package host

import (
	"testing"
	"time"
)

func TestQuota(t *testing.T) {
	var all Quotas
	q, start := all.Get("a.example.org", 2, time.Minute), time.Unix(1_795_219_200, 0)
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true}, {10 * time.Second, true}, {20 * time.Second, false}, {59 * time.Second, false},
		{60 * time.Second, true},  // the first left the window
		{61 * time.Second, false}, // the second has not
		{70 * time.Second, true}, {119 * time.Second, false}, {200 * time.Second, true}, {200 * time.Second, true}, {200 * time.Second, false},
	} {
		if got := q.Take(start.Add(step.after)); got != step.want {
			t.Errorf("step %d, after %s: %v, want %v", i, step.after, got, step.want)
		}
	}
	for after, want := range map[time.Duration]time.Duration{200 * time.Second: time.Minute, 230 * time.Second: 30 * time.Second, time.Hour: 0} {
		if got := q.Wait(start.Add(after)); got != want {
			t.Errorf("after %s: wait %v, want %v", after, got, want)
		}
	}
	if all.Get("a.example.org", 2, time.Minute) != q {
		t.Error("a reload starts a new quota")
	}
	if all.Get("a.example.org", 3, time.Minute) == q || all.Get("b.example.org", 2, time.Minute) == q {
		t.Error("other hosts and other rates share it")
	}
}
