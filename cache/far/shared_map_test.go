package far

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSharedMap: what one instance puts, the others see, and one of them gets what several
// take at once; all is gone once nobody has put anything for the life of the map.
func TestSharedMap(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		one, two := open(t, url).SharedMap("map", time.Hour), open(t, url).SharedMap("map", time.Hour)
		value := bytes.Repeat([]byte{0, 0xff, '\r', '\n'}, 10_000)
		for _, name := range []string{"a", "b"} {
			if err := one.Put(t.Context(), name, []byte("before")); err != nil {
				t.Fatal(err)
			}
			if err := one.Put(t.Context(), name, value); err != nil {
				t.Fatal(err)
			}
		}
		names, err := two.Names(t.Context())
		if slices.Sort(names); err != nil || !slices.Equal(names, []string{"a", "b"}) {
			t.Errorf("%v %v", names, err)
		}
		if v, err := two.Get(t.Context(), "a"); !bytes.Equal(v, value) || err != nil {
			t.Errorf("%d bytes, %v", len(v), err)
		}
		var taken atomic.Int64
		var all sync.WaitGroup
		for range 5 {
			for _, m := range []*SharedMap{one, two} {
				all.Go(func() {
					if v, err := m.Take(t.Context(), "a"); err != nil {
						t.Error(err)
					} else if bytes.Equal(v, value) {
						taken.Add(1)
					} else if v != nil {
						t.Errorf("%d bytes", len(v))
					}
				})
			}
		}
		all.Wait()
		if n := taken.Load(); n != 1 {
			t.Errorf("%d of ten have taken it", n)
		}
		if v, err := one.Get(t.Context(), "a"); v != nil || err != nil {
			t.Errorf("taken, and there: %d bytes, %v", len(v), err)
		}
		if left, err := one.tier.sharedValues.PTTL(t.Context(), one.key).Result(); err != nil || left <= 0 || left > time.Hour {
			t.Errorf("it lives for %v, %v", left, err)
		}
	})
}
