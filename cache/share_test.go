package cache

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/policy"
)

// crowded is a class of 9 MiB, in which spaces store answers of a kilobyte.
type crowded struct {
	*Cache
	t testing.TB
}

func newCrowded(t testing.TB) crowded {
	return crowded{newCache(t, Config{Memory: 32 << 20}), t}
}

func (c crowded) open(name string) *Space {
	return c.Space(name, classed(policy.Keyed))
}

var kilobyte = strings.Repeat("x", 1000)

func (c crowded) fill(s *Space, from, to int) {
	for i := from; i < to; i++ {
		c.near.put(policy.Keyed, fmt.Sprint(s.name, ":", i), made(c.t, s, "", textContent(kilobyte), time.Now()))
	}
}

func (c crowded) has(s *Space, from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		if _, _, found := s.Look(fmt.Sprint(s.name, ":", i)); found {
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
	if size := c.near.capacity[policy.Keyed].size; size>>10 != holds {
		t.Fatalf("a class of %d bytes", size)
	}
	kd, avatar, ip := c.open("kd"), c.open("avatar/step"), c.open("ip")
	c.fill(kd, 0, 500)
	c.fill(avatar, 0, 500)
	c.fill(ip, 0, many)
	if a, b := c.has(kd, 0, 500), c.has(avatar, 0, 500); a+b < 1000 {
		t.Errorf("%d and %d of 500 entries survived", a, b)
	}
	if n := c.has(ip, 0, many); n < holds*6/10 {
		t.Errorf("the flood itself got only %d entries", n)
	}
	// What others store meanwhile is kept as well, until they have their half.
	for round := range 10 {
		c.fill(kd, 500+round*200, 700+round*200)
		c.fill(ip, many+round*2000, many+(round+1)*2000)
	}
	if n := c.has(kd, 0, 2500); n < 2500 {
		t.Errorf("%d of 2500 entries survived", n)
	}
}

func TestEndpointAloneHasTheWholeClass(t *testing.T) {
	c := newCrowded(t)
	ip := c.open("ip")
	c.fill(ip, 0, many)
	if n := c.has(ip, 0, many); n < holds*8/10 {
		t.Errorf("%d entries of a kilobyte in %d", n, holds)
	}
}

// Others that store more than their half are evicted by age, as all entries are
// while no endpoint has more than its share.
func TestFloodTakesItsHalf(t *testing.T) {
	c := newCrowded(t)
	kd, ip := c.open("kd"), c.open("ip")
	c.fill(kd, 0, holds)
	c.fill(ip, 0, many)
	if n := c.has(ip, 0, many); n < holds*35/100 || n > holds*60/100 {
		t.Errorf("the flood has %d of %d", n, holds)
	}
	if n := c.has(kd, 0, holds); n < holds*35/100 {
		t.Errorf("the other has %d of %d", n, holds)
	}
}

// What was purged or replaced does not come back when it is moved.
func TestMovedValuesAreTheLastOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowded(t)
		kd, ip := c.open("kd"), c.open("ip")
		mustFetch(t, kd, "kd:purged", &script{text: "old"})
		mustFetch(t, kd, "kd:replaced", &script{text: "old"})
		mustFetch(t, kd, "kd:large", &script{text: strings.Repeat("old", 3000)})
		c.fill(ip, 0, holds*6/10)
		kd.PurgeKey("kd:purged", time.Now())
		time.Sleep(2 * time.Hour)
		mustFetch(t, kd, "kd:replaced", &script{text: "new"})
		large := strings.Repeat("new", 3000)
		mustFetch(t, kd, "kd:large", &script{text: large})
		c.fill(ip, holds*6/10, many)
		time.Sleep(purgedKeyTime)
		if _, _, found := kd.Look("kd:purged"); found {
			t.Error("what was purged is back")
		}
		_, reps, _ := kd.Look("kd:replaced")
		if len(reps) != 1 || string(reps[0].Data) != "new" {
			t.Errorf("%v", reps)
		}
		if info, reps, _ := kd.Look("kd:large"); !info.Complete || string(reps[0].Data) != large {
			t.Errorf("%+v", info)
		}
		parts := 0
		it := c.near.class[policy.Keyed].Iterator()
		for it.SetNext() {
			if v, err := it.Value(); err == nil && strings.HasPrefix(v.Key(), "kd:large\x00") {
				parts++
			}
		}
		if parts != 1 {
			t.Errorf("%d parts of an entry of one", parts)
		}
	})
}

// As many bytes are moved as a flood writes, by order of magnitude.
func TestMovesAreBounded(t *testing.T) {
	c := newCrowded(t)
	kd, ip := c.open("kd"), c.open("ip")
	c.fill(kd, 0, holds*9/20)
	c.fill(ip, 0, holds)
	before := c.near.counters.spared[policy.Keyed].Load()
	c.fill(ip, holds, many)
	if moved := c.near.counters.spared[policy.Keyed].Load() - before; moved == 0 || moved > 2*(many-holds) {
		t.Errorf("%d values were moved for %d that were written", moved, many-holds)
	}
}

func BenchmarkFlood(b *testing.B) {
	c := newCrowded(b)
	kd, ip := c.open("kd"), c.open("ip")
	c.fill(kd, 0, holds*2/5)
	c.fill(ip, 0, holds)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.fill(ip, holds+i, holds+i+1)
	}
}
