package advise_test

import (
	"flag"
	"testing"
)

// What TestTable plays.
var (
	seeds  = flag.Int("seeds", 0, "seeds of each world in the table; 0: no table")
	random = flag.Int("random", 100, "worlds of the table that are drawn at random")
	from   = flag.Uint64("from", 1000, "the first seed of the table; it was tuned on those below 1000")
	only   = flag.String("only", "", "the world of this name alone, in the table")
)

// tableFutures are those that old share and calls are judged by the mean of.
const tableFutures = 5

// TestTable logs a table of how right advice is, which takes a core for some minutes:
//
//	go test ./cache/advise -run TestTable -v -timeout 1h -seeds 8 -random 300
//	go test ./cache/advise -run TestTable -v -seeds 5 -random 0 -only "long grace"
func TestTable(t *testing.T) {
	if *seeds == 0 {
		t.Skip("it takes some minutes: -seeds 3")
	}
	var drawn []World
	for i := range *random {
		drawn = append(drawn, Random(*from+uint64(i)))
	}
	logTable(t, "known worlds", known(), *seeds, All)
	logTable(t, "worlds drawn at random", drawn, 1, All)
	for _, w := range known() {
		if w.Instances > 1 {
			logTable(t, "from what one instance has seen alone", []World{w}, *seeds, First)
		}
	}
	logLoops(t, known())
}

func known() (out []World) {
	for _, w := range Worlds() {
		if *only == "" || w.Name == *only {
			out = append(out, w)
		}
	}
	return out
}

// logTable has a row for each world, and one of all.
func logTable(t *testing.T, title string, worlds []World, seeds, by int) {
	t.Helper()
	t.Logf("%-42s %4s %5s %5s %5s", title, "old", "seer", "calls", "bands")
	var all Tally
	for i := range worlds {
		var sum Tally
		for seed := range uint64(seeds) {
			v := worlds[i].Judge(*from+seed, by, tableFutures)
			sum.Add(v)
			for _, line := range v.Wrong {
				t.Log("    " + line)
			}
		}
		all.Join(&sum)
		t.Logf("%-42s %s", worlds[i].Name, &sum)
	}
	t.Logf("%-42s %s", "all", &all)
}

func logLoops(t *testing.T, worlds []World) {
	t.Helper()
	t.Logf("%-42s %9s %6s %6s", "closed loops", "TTL", "old", "steps")
	var sum LoopTally
	for i := range worlds {
		for seed := range uint64(*seeds) {
			l := worlds[i].Control(*from + seed)
			sum.Add(l)
			t.Logf("%-42s %s %s", worlds[i].Name, l, l.Wrong)
		}
	}
	t.Log(&sum)
}
