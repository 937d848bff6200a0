package advise_test

import (
	"testing"

	"sundry/upstreams/lib/longtest"
)

// The whole of this, with more seeds, is TestTable.

const futures = 3

// skipSlow leaves out what takes many times as long with the race detector: there is one
// goroutine.
func skipSlow(t *testing.T) {
	t.Helper()
	if longtest.Race || testing.Short() {
		t.Skip("slow")
	}
}

// atLeast fails if fewer are right.
func atLeast(t *testing.T, right, all int, least float64, what string) {
	t.Helper()
	t.Logf("%s: %d of %d", what, right, all)
	if float64(right) < least*float64(all) {
		t.Errorf("%s: %d of %d, want %.0f %%", what, right, all, least*100)
	}
}

func judge(t *testing.T, worlds []World, seed uint64) (sum Tally) {
	t.Helper()
	for i := range worlds {
		v := worlds[i].Judge(seed, All, futures)
		for _, line := range v.Wrong {
			t.Logf("%s: %s", worlds[i].Name, line)
		}
		if daily := worlds[i].Name == "daily"; daily != (v.Edition != nil) {
			t.Errorf("%s: edition %+v", worlds[i].Name, v.Edition)
		}
		sum.Add(v)
	}
	return sum
}

// TestWorlds: beside brute force over the days after, at five TTLs each.
func TestWorlds(t *testing.T) {
	skipSlow(t)
	sum := judge(t, Worlds(), 0)
	atLeast(t, sum.Old, sum.All, 0.85, "old share right")
	atLeast(t, sum.Calls, sum.All, 0.95, "calls right")
	atLeast(t, sum.Bands, sum.All, 0.88, "bands hold")
	atLeast(t, sum.Within, sum.Advised, 0.95, "advised TTL within the target")
	atLeast(t, sum.Reached-sum.Missed, sum.Reached, 0.95, "advised where there is a TTL")
}

// TestRandomWorlds: worlds that nothing was tuned on.
func TestRandomWorlds(t *testing.T) {
	skipSlow(t)
	var worlds []World
	for seed := uint64(0); seed < 40; seed += uint64(longtest.Every(4)) {
		worlds = append(worlds, Random(1000+seed))
	}
	sum := judge(t, worlds, 1000)
	atLeast(t, sum.Old, sum.All, 0.75, "old share right")
	atLeast(t, sum.Calls, sum.All, 0.85, "calls right")
	atLeast(t, sum.Bands, sum.All, 0.80, "bands hold")
	atLeast(t, sum.Within, sum.Advised, 0.90, "advised TTL within the target")
}

// TestClosedLoops: the controller alone for two weeks, judged by the two weeks after. It
// never raises the TTL while more than twice the target is old.
func TestClosedLoops(t *testing.T) {
	skipSlow(t)
	var sum LoopTally
	worlds := Worlds()
	for i := 0; i < len(worlds); i += longtest.Every(3) {
		l := worlds[i].Control(1)
		for _, line := range l.Wrong {
			t.Errorf("%s: %s", worlds[i].Name, line)
		}
		sum.Add(l)
		t.Logf("%s: %s", worlds[i].Name, l)
	}
	atLeast(t, sum.Within, sum.Reached, 0.9, "within one and a half times the target")
}

// TestOneOfTwoInstances: what one of them has seen alone leads to a TTL that keeps the target
// of both, though it counts its own calls only.
func TestOneOfTwoInstances(t *testing.T) {
	worlds := Worlds()
	for i := range worlds {
		if w := &worlds[i]; w.Instances > 1 {
			if v := w.Judge(1, First, 1); !v.Old || !v.Within {
				t.Errorf("%s: advised %v; %s", w.Name, v.Advised, v.Wrong)
			}
		}
	}
}
