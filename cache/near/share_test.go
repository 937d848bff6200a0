package near

import (
	"fmt"
	"strings"
	"testing"

	"sundry/cache/policy"
)

// crowded is a tier with a class of 9 MiB, in which endpoints store answers of a kilobyte.
type crowded struct {
	*Memory
	t testing.TB
}

func newCrowded(t testing.TB) crowded { return crowded{newMemory(t, 32<<20), t} }

func (c crowded) fill(endpoint string, from, to int) {
	for i := from; i < to; i++ {
		mustPut(c.t, c.Memory, policy.Keyed, fmt.Sprint(endpoint, ":", i), textContent(kilobyte))
	}
}

// has returns how many of an endpoint's answers are stored.
func (c crowded) has(endpoint string, from, to int) (n int) {
	for i := from; i < to; i++ {
		if _, ok := c.Stored(policy.Keyed, fmt.Sprint(endpoint, ":", i)); ok {
			n++
		}
	}
	return n
}

const (
	holds = 9 << 10 // kilobytes of the class
	many  = 4 * holds
)

func TestFloodOfOneEndpointLeavesTheOthersTheirHalf(t *testing.T) {
	c := newCrowded(t)
	if size := c.capacity[policy.Keyed].size; size>>10 != holds {
		t.Fatalf("a class of %d bytes", size)
	}
	c.fill("kd", 0, 500)
	c.fill("avatar/step", 0, 500)
	c.fill("ip", 0, many)
	if a, b := c.has("kd", 0, 500), c.has("avatar/step", 0, 500); a+b < 1000 {
		t.Errorf("%d and %d of 500 entries survived", a, b)
	}
	if n := c.has("ip", 0, many); n < holds*6/10 {
		t.Errorf("the flood itself got only %d entries", n)
	}
	// What others store meanwhile is kept as well, until they have their half.
	for round := range 10 {
		c.fill("kd", 500+round*200, 700+round*200)
		c.fill("ip", many+round*2000, many+(round+1)*2000)
	}
	if n := c.has("kd", 0, 2500); n < 2500 {
		t.Errorf("%d of 2500 entries survived", n)
	}
}

func TestEndpointAloneHasTheWholeClass(t *testing.T) {
	c := newCrowded(t)
	c.fill("ip", 0, many)
	if n := c.has("ip", 0, many); n < holds*8/10 {
		t.Errorf("%d entries of a kilobyte in %d", n, holds)
	}
}

// Others that store more than their half are evicted by age, as all entries are
// while no endpoint has more than its share.
func TestFloodTakesItsHalf(t *testing.T) {
	c := newCrowded(t)
	c.fill("kd", 0, holds)
	c.fill("ip", 0, many)
	if n := c.has("ip", 0, many); n < holds*35/100 || n > holds*60/100 {
		t.Errorf("the flood has %d of %d", n, holds)
	}
	if n := c.has("kd", 0, holds); n < holds*35/100 {
		t.Errorf("the other has %d of %d", n, holds)
	}
}

// TestMovedValuesAreTheLastOnes: what was removed or replaced does not come back when it is moved.
func TestMovedValuesAreTheLastOnes(t *testing.T) {
	c := newCrowded(t)
	put := func(key, text string, generation uint64) {
		t.Helper()
		if !c.Put(policy.Keyed, key, made(t, textContent(text), generation)) {
			t.Fatalf("%s is not stored", key)
		}
	}
	put("kd:removed", "old", 1)
	put("kd:replaced", "old", 1)
	put("kd:large", strings.Repeat("old", 3000), 1)
	c.fill("ip", 0, holds*6/10)
	c.Remove(policy.Keyed, "kd:removed")
	put("kd:replaced", "new", 2)
	large := strings.Repeat("new", 3000)
	put("kd:large", large, 2)
	c.fill("ip", holds*6/10, many)
	for key, want := range map[string]string{"kd:removed": "", "kd:replaced": "new", "kd:large": large} {
		if got := textOf(c.Memory, policy.Keyed, key); got != want {
			t.Errorf("%s: %d bytes, want %d", key, len(got), len(want))
		}
	}
	parts := 0
	for it := c.Queue(policy.Keyed).Iterator(); it.SetNext(); {
		if v, err := it.Value(); err == nil && strings.HasPrefix(v.Key(), "kd:large\x00") {
			parts++
		}
	}
	if parts != 1 {
		t.Errorf("%d parts of an entry of one", parts)
	}
}

// As many bytes are moved as a flood writes, by order of magnitude.
func TestMovesAreBounded(t *testing.T) {
	c := newCrowded(t)
	c.fill("kd", 0, holds*9/20)
	c.fill("ip", 0, holds)
	before := c.counters[policy.Keyed].spared.Load()
	c.fill("ip", holds, many)
	if moved := c.counters[policy.Keyed].spared.Load() - before; moved == 0 || moved > 2*(many-holds) {
		t.Errorf("%d values were moved for %d that were written", moved, many-holds)
	}
}

func BenchmarkFlood(b *testing.B) {
	c := newCrowded(b)
	c.fill("kd", 0, holds*2/5)
	c.fill("ip", 0, holds)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.fill("ip", holds+i, holds+i+1)
	}
}
