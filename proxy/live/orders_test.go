package live

import (
	"testing"
	"time"
)

func TestOrdersDue(t *testing.T) {
	drop, reset := Change{Do: "drop", Target: "ip", Key: "ip:k"}, Change{Do: "reset", Target: "h"}
	few := after(t, drop, reset, Change{Do: "purge", Target: "ip"}, drop)
	full := &Settings{}
	for range 30 {
		full = and(t, full, drop, Change{Do: "purge", Target: "ip"}, reset, drop)
	}
	flood := &Settings{}
	for range 300 {
		flood = and(t, flood, drop)
	}
	for name, row := range map[string]struct {
		of     *Settings
		done   int64
		starts bool
		want   int // orders
		first  int64
		missed bool
	}{
		"all":                            {of: few, done: 0, want: 3, first: 1},
		"the newest":                     {of: few, done: 2, want: 1, first: 4},
		"none":                           {of: few, done: 4},
		"a start knows no breakers":      {of: few, starts: true, want: 2, first: 1},
		"more than are kept":             {of: full, done: 3, want: 88, first: 4},
		"more than are kept, at a start": {of: full, starts: true, want: 60, first: 1},
		"more than the audit log holds":  {of: flood, done: 10, want: 200, first: 101, missed: true},
		"just what the audit log holds":  {of: flood, done: 100, want: 200, first: 101},
		"more than a start can know":     {of: flood, starts: true, want: 200, first: 101, missed: true},
		"fewer than are kept of many":    {of: flood, done: 260, want: 40, first: 261},
	} {
		due, missed := row.of.DueOrders(row.done, row.starts)
		if len(due) != row.want || len(due) > 0 && due[0].Seq != row.first || missed.IsZero() == row.missed {
			t.Errorf("%s: %d orders, the first %+v, missed %v", name, len(due), due[:min(1, len(due))], missed)
		}
		for _, o := range due {
			if o.At.IsZero() {
				t.Errorf("%s: %+v has no time", name, o)
			}
		}
	}
	few.Orders[0].At = time.Time{} // as an older version wrote it
	if due, _ := few.DueOrders(0, false); !due[0].At.Equal(nine) {
		t.Errorf("%+v", due[0])
	}
}
