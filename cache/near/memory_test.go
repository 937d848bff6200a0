package near

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sundry/cache/policy"
	"sundry/upstreams/lib/longtest"
)

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestFreshTierIsSmall(t *testing.T) {
	before := heap()
	m := newMemory(t, DefaultMemory)
	if grown := heap() - before; grown > 6<<20 {
		t.Errorf("an empty tier takes %d KiB", grown>>10)
	}
	runtime.KeepAlive(m)
}

func TestCapHolds(t *testing.T) {
	const limit = 32 << 20
	before := heap()
	m := newMemory(t, limit)
	value := make([]byte, 300)
	for i := range 200_000 {
		m.Set(policy.Keyed, fmt.Sprintf("small-%d", i), value)
	}
	big := make([]byte, 20<<10)
	for i := range 5_000 {
		m.Set(policy.Keyed, fmt.Sprintf("big-%d", i), big)
		m.Set(policy.Shared, fmt.Sprintf("big-%d", i), big)
	}
	if grown := heap() - before; grown > limit {
		t.Errorf("a tier of %d MiB grew to %d MiB", limit>>20, grown>>20)
	}
	if m.Evicted(policy.Keyed) == 0 {
		t.Error("nothing was evicted, so the cap was not tested")
	}
}

func TestOversizeIsRefusedAndHarmsNobody(t *testing.T) {
	m := newMemory(t, MinMemory)
	for i := range 500 {
		m.Set(policy.Shared, fmt.Sprint("k", i), []byte("small"))
	}
	if m.Set(policy.Shared, "huge", make([]byte, 6<<20)) {
		t.Error("a value larger than its share was stored")
	}
	if got := m.Queue(policy.Shared).Len(); got != 500 {
		t.Errorf("%d of 500 entries left", got)
	}
	if m.counters[policy.Shared].refused.Load() != 1 {
		t.Error("the refusal was not counted")
	}
}

func TestRefreshesOfOneKeyEvictNoOtherKey(t *testing.T) {
	m := newMemory(t, MinMemory)
	for i := range 500 {
		m.Set(policy.Shared, fmt.Sprint("other", i), make([]byte, 1<<10))
	}
	for range 600 { // a rewrite leaves the old bytes in bigcache's queue
		m.Set(policy.Shared, "hot", make([]byte, 3<<10))
	}
	if got := m.Queue(policy.Shared).Len(); got != 501 {
		t.Errorf("%d of 501 entries left", got)
	}
}

// TestLargestEntry: whatever the cap, the largest entry is stored again and again in a tier that is full of others; one that is too
// large for its class and for the class Large is not, and evicts nothing.
func TestLargestEntry(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	if got := LargestEntry(0); got < 8<<20 || got != LargestEntry(DefaultMemory) {
		t.Errorf("%d bytes at the default cap", got)
	}
	if LargestEntry(MinMemory-1) != 0 {
		t.Error("an entry is kept where there is no cache")
	}
	for _, memory := range []int64{MinMemory, 20 << 20, 64 << 20, DefaultMemory} {
		for _, class := range []policy.Class{policy.Shared, policy.Keyed} {
			m := newMemory(t, memory)
			largest := textContent(strings.Repeat("p", int(LargestEntry(memory))))
			for i := range 12 {
				key := fmt.Sprint("large", i)
				mustPut(t, m, class, key, largest)
				for n := range 200 {
					m.Set(class, fmt.Sprint("small", i, n), make([]byte, n))
				}
				if len(textOf(m, class, key)) != int(LargestEntry(memory)) {
					t.Errorf("%s: %d bytes of %d are not kept", class, LargestEntry(memory), memory)
				}
			}
			before := m.Queue(class).Len() + m.Queue(policy.Large).Len()
			larger := textContent(strings.Repeat("p", max(m.capacity[class].value, m.capacity[policy.Large].value)+1))
			if m.Put(class, "larger", made(t, larger, 1)) {
				t.Errorf("%s: an entry that is too large is stored", class)
			}
			if after := m.Queue(class).Len() + m.Queue(policy.Large).Len(); after != before {
				t.Errorf("%s: %d of %d entries are left", class, after, before)
			}
		}
	}
}

func TestLayoutUsesTheWholeCap(t *testing.T) {
	for memory := int64(MinMemory); memory <= DefaultMemory; memory += 1 << 20 {
		sum := 0
		for c, r := range layout(memory) {
			if r.size < 1<<20 || r.value < 300<<10 {
				t.Errorf("cap of %d MiB: class %s: %+v", memory>>20, policy.Class(c), r)
			}
			sum += r.size
		}
		if want := int(float64(memory)*queueShare) >> 20 << 20; sum != want {
			t.Errorf("cap of %d MiB: classes of %d bytes together, want %d", memory>>20, sum, want)
		}
	}
}
