package purged

import (
	"sync"
	"testing"
	"time"
)

const life = Life

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

// count returns the number of keys that are remembered, and fails if the order has others.
func count(t *testing.T, k *Keys) (n int) {
	t.Helper()
	k.purges.Range(func(any, any) bool { n++; return true })
	if n != len(k.order) {
		t.Errorf("%d keys, and %d in the order", n, len(k.order))
	}
	return n
}

func TestLast(t *testing.T) {
	for name, row := range map[string]struct {
		adds func(k *Keys)
		now  time.Duration
		want time.Time
	}{
		"nothing":                         {func(*Keys) {}, 0, time.Time{}},
		"another key":                     {func(k *Keys) { k.Add(2, noon, noon, life) }, 0, time.Time{}},
		"a purge":                         {func(k *Keys) { k.Add(1, noon, noon, life) }, 0, noon},
		"before its end":                  {func(k *Keys) { k.Add(1, noon, noon, life) }, life - 1, noon},
		"at its end":                      {func(k *Keys) { k.Add(1, noon, noon, life) }, life, time.Time{}},
		"at its end, with another":        {func(k *Keys) { k.Add(1, noon, noon, life); k.Add(2, noon, noon, 2*life) }, life, time.Time{}},
		"again":                           {func(k *Keys) { k.Add(1, noon, noon, life); k.Add(1, after(1), after(1), life) }, life, after(1)},
		"an earlier one later":            {func(k *Keys) { k.Add(1, noon, noon, life); k.Add(1, after(-1), after(1), life) }, life, noon},
		"a shorter life later":            {func(k *Keys) { k.Add(1, noon, noon, life); k.Add(1, after(1), after(1), 1) }, life - 1, after(1)},
		"ordered a while ago":             {func(k *Keys) { k.Add(1, after(-time.Hour), noon, life) }, 0, after(-time.Hour)},
		"without an effect":               {func(k *Keys) { k.Add(1, noon, noon, 0) }, 0, time.Time{}},
		"after others without an effect":  {func(k *Keys) { k.Add(2, noon, noon, 1); k.Add(1, after(2), after(2), life) }, 3, after(2)},
		"redated":                         {func(k *Keys) { k.Add(1, after(5), noon, life); k.Redate(func(time.Time) time.Time { return after(2) }) }, 3, after(2)},
		"redated without one":             {func(k *Keys) { k.Redate(func(time.Time) time.Time { return after(2) }) }, 3, time.Time{}},
		"its life is longer than another": {func(k *Keys) { k.Add(2, noon, noon, 2*life); k.Add(1, noon, noon, life) }, life - 1, noon},
	} {
		t.Run(name, func(t *testing.T) {
			var k Keys
			row.adds(&k)
			if got := k.Last(1, after(row.now)); !got.Equal(row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
			if any := k.Any(after(row.now)); !any && !row.want.IsZero() {
				t.Error("there is none")
			}
			if count(t, &k); !k.Forgotten().IsZero() {
				t.Errorf("forgotten until %v", k.Forgotten())
			}
		})
	}
}

// TestLimit: beyond it, the keys with the earliest purges are forgotten, and the latest time of these is known.
func TestLimit(t *testing.T) {
	var k Keys
	for i := range uint64(Limit + 10) {
		k.Add(i, after(time.Duration(i)), after(time.Duration(i)), life)
		k.Add(3, after(time.Duration(i)), after(time.Duration(i)), life) // again and again
	}
	now := after(Limit + 10)
	if n := count(t, &k); n != Limit {
		t.Errorf("%d keys", n)
	}
	if !k.Last(9, now).IsZero() || k.Last(3, now).IsZero() || k.Last(11, now).IsZero() {
		t.Error("others are forgotten")
	}
	if got, want := k.Forgotten(), after(10); !got.Equal(want) {
		t.Errorf("forgotten until %v, want %v", got, want)
	}
	k.Add(1, after(time.Hour), after(time.Hour), life)
	if n := count(t, &k); n != 1 || !k.Forgotten().Equal(after(10)) {
		t.Errorf("%d keys after all have ended, forgotten until %v", n, k.Forgotten())
	}
}

func TestConcurrentUse(t *testing.T) {
	var k Keys
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			for i := range uint64(1000) {
				k.Add(i%97, after(time.Duration(i)), after(time.Duration(i)), time.Duration(1+g))
				k.Redate(func(at time.Time) time.Time { return at })
				_, _, _ = k.Last(i%89, noon), k.Any(noon), k.Forgotten()
			}
		})
	}
	all.Wait()
	count(t, &k)
}
