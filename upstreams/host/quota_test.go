package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// others are the other instances of a fleet.
type others struct {
	wait  time.Duration
	made  int
	err   error
	takes time.Duration // until they reply
	asked []string
}

func (o *others) TakeQuota(_ context.Context, name string, bounds []Bound) (time.Duration, int, error) {
	for _, b := range bounds {
		name += fmt.Sprintf(", %d in %s", b.Calls, b.Per)
	}
	o.asked = append(o.asked, name)
	wait, made, err := o.wait, o.made, o.err
	time.Sleep(o.takes)
	return wait, made, err
}

// TestASharedQuotaAsksTheOthers: where this instance's calls leave room, and they are not
// known to have used it up. Without them it is this instance's own.
func TestASharedQuotaAsksTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := &others{}
		all := Quotas{Fleet: fleet}
		q, start := all.Get("a.example.org", 2, time.Minute), time.Unix(1_795_219_200, 0)
		for i, step := range []struct {
			after time.Duration // since start
			wait  time.Duration // by the others
			err   error
			want  bool
			asked int
		}{
			{0, 0, nil, true, 1},
			{time.Second, 30 * time.Second, nil, false, 2},
			{2 * time.Second, 0, nil, false, 2}, // as they said
			{31 * time.Second, 0, nil, true, 3},
			{32 * time.Second, 0, nil, false, 3}, // two of its own within a minute
			{61 * time.Second, 0, errors.New("away"), true, 4},
			{62 * time.Second, 0, errors.New("away"), false, 4},
			{91 * time.Second, 0, errors.New("away"), true, 5},
			{121 * time.Second, 0, nil, true, 6},
		} {
			fleet.wait, fleet.err = step.wait, step.err
			if got := q.Take(t.Context(), start.Add(step.after)); got != step.want || len(fleet.asked) != step.asked {
				t.Errorf("step %d: %v, want %v; asked %d times, want %d", i, got, step.want, len(fleet.asked), step.asked)
			}
		}
		if want := "a.example.org 2/1m0s, 2 in 1m0s, 8 in 4m0s"; fleet.asked[0] != want {
			t.Errorf("asked for %q, want %q", fleet.asked[0], want)
		}
	})
}

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
		if got := q.Take(t.Context(), start.Add(step.after)); got != step.want {
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

// TestRefreshesLeaveTheReserve: of twelve calls they take nine, whoever made the others.
func TestRefreshesLeaveTheReserve(t *testing.T) {
	var all Quotas
	q, start := all.Get("a.example.org", 12, time.Minute), time.Unix(1_795_219_200, 0)
	for i, step := range []struct {
		after   time.Duration
		refresh bool
		calls   int // that are tried
		want    int // that are granted
		left    float64
		forThem float64
	}{
		{0, false, 3, 3, 9. / 12, 6. / 9},
		{time.Second, true, 9, 6, 3. / 12, 0},
		{2 * time.Second, false, 9, 3, 0, 0},
		{time.Minute, true, 1, 0, 3. / 12, 0}, // the first three left the window
		{time.Minute, false, 1, 1, 2. / 12, 0},
		{61 * time.Second, true, 9, 5, 3. / 12, 0}, // nine, less the four that callers made
		{10 * time.Minute, true, 0, 0, 1, 1},
	} {
		take, granted := q.Take, 0
		if step.refresh {
			take = q.TakeToRefresh
		}
		for range step.calls {
			if take(t.Context(), start.Add(step.after)) {
				granted++
			}
		}
		now := start.Add(step.after)
		if granted != step.want || differ(q.Left(now), step.left) || differ(q.LeftToRefresh(now), step.forThem) {
			t.Errorf("step %d: %d granted, want %d; left %v, want %v; for refreshes %v, want %v",
				i, granted, step.want, q.Left(now), step.left, q.LeftToRefresh(now), step.forThem)
		}
	}
}

func differ(a, b float64) bool { return math.Abs(a-b) > 1e-9 }

// TestAQuotaOfOneCallHasAReserve: it is counted over eight of its times, of which
// refreshes leave two.
func TestAQuotaOfOneCallHasAReserve(t *testing.T) {
	var all Quotas
	q, start := all.Get("a.example.org", 1, time.Second), time.Unix(1_795_219_200, 0)
	granted := 0
	for i := range 80 { // ten seconds
		if q.TakeToRefresh(t.Context(), start.Add(time.Duration(i)*125*time.Millisecond)) {
			granted++
		}
	}
	if granted != 8 {
		t.Errorf("%d refreshes in ten seconds, want 6 in the first eight and 2 in the next two", granted)
	}
	if at := start.Add(10 * time.Second); !q.Take(t.Context(), at) || q.Take(t.Context(), at) {
		t.Error("a caller gets the call of the second, and one alone")
	}
}

// TestWhatIsLeftOfASharedQuota: as the last reply said, and more as time passes. What is
// closed to refreshes is open to callers.
func TestWhatIsLeftOfASharedQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fleet := &others{made: 10}
		all := Quotas{Fleet: fleet}
		q, start := all.Get("a.example.org", 20, time.Minute), time.Unix(1_795_219_200, 0)
		if q.Left(start) != 1 {
			t.Errorf("%v is left before anything is known", q.Left(start))
		}
		q.Take(t.Context(), start)
		for after, want := range map[time.Duration]float64{0: 0.5, 30 * time.Second: 0.75, time.Minute: 1, time.Hour: 1} {
			if got := q.Left(start.Add(after)); got != want {
				t.Errorf("after %s: %v is left, want %v", after, got, want)
			}
		}
		fleet.wait, fleet.made = 10*time.Second, 15
		if q.TakeToRefresh(t.Context(), start) || q.LeftToRefresh(start) != 0 || q.Left(start) != 0.25 {
			t.Errorf("left %v, for refreshes %v", q.Left(start), q.LeftToRefresh(start))
		}
		fleet.wait, fleet.made = 0, 16
		if q.TakeToRefresh(t.Context(), start.Add(9*time.Second)) || len(fleet.asked) != 2 {
			t.Errorf("asked before the time has come: %q", fleet.asked)
		}
		if !q.Take(t.Context(), start.Add(9*time.Second)) || q.LeftToRefresh(start.Add(11*time.Second)) != 0 {
			t.Error("a caller is refused")
		}
		if want := "a.example.org 20/1m0s, 20 in 1m0s, 15 in 1m0s, 20 in 1m0s"; fleet.asked[1] != want {
			t.Errorf("asked for %q, want %q", fleet.asked[1], want)
		}
	})
}

// TestAGrantIsForItsTime: a call counts when it is made. A grant and a call of this instance
// alone are not both used, nor is a grant that comes when half of its time is over.
func TestAGrantIsForItsTime(t *testing.T) {
	type ask struct {
		at, takes time.Duration
		away      bool
		want      bool
		made      time.Duration
	}
	const ms = time.Millisecond
	for name, asks := range map[string][]ask{
		"a grant beside a call of its own":   {{0, 100 * ms, true, true, 100 * ms}, {50 * ms, 60 * ms, false, false, 0}, {1100 * ms, 0, false, true, 1100 * ms}},
		"a call of its own beside a grant":   {{0, 90 * ms, false, true, 90 * ms}, {50 * ms, 100 * ms, true, false, 0}, {1050 * ms, 0, true, false, 0}, {1090 * ms, 0, true, true, 1090 * ms}},
		"two at the same time":               {{0, 100 * ms, false, true, 100 * ms}, {50 * ms, 60 * ms, false, false, 0}},
		"one in time, then one that is late": {{0, 400 * ms, false, true, 400 * ms}, {390 * ms, 960 * ms, false, false, 0}, {1400 * ms, 0, false, true, 1400 * ms}},
		"one that is late":                   {{0, 700 * ms, false, false, 0}, {time.Second, 0, false, true, time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fleet, start := &others{}, time.Now()
				all := Quotas{Fleet: fleet}
				q := all.Get("a.example.org", 1, time.Second)
				var group sync.WaitGroup
				for i, a := range asks {
					time.Sleep(time.Until(start.Add(a.at)))
					fleet.takes, fleet.err = a.takes, nil
					if a.away {
						fleet.err = errors.New("away")
					}
					group.Go(func() {
						got := q.Take(t.Context(), time.Now())
						if made := time.Since(start); got != a.want || got && made != a.made {
							t.Errorf("ask %d: %v after %v, want %v after %v", i, got, made, a.want, a.made)
						}
					})
					synctest.Wait()
				}
				group.Wait()
			})
		})
	}
}
