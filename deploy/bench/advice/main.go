// Command advice judges TTL advice by brute force, over worlds in which it is known when
// each content changes, and prints a table. It needs nothing but a core for some minutes:
//
//	go run ./deploy/bench/advice              # worlds that it was tuned on, random ones, closed loops
//	go run ./deploy/bench/advice -seeds 5 -from 1000 -random 200 -v
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"sundry/cache/advise/advisetest"
)

// options are what the caller may choose.
type options struct {
	from          uint64
	seeds, random int
	futures       int
	only          string
	loops, lines  bool
	out           io.Writer
}

func main() {
	o := &options{out: os.Stdout}
	flag.Uint64Var(&o.from, "from", 1000, "the first seed; it was tuned on those below 1000")
	flag.IntVar(&o.seeds, "seeds", 3, "seeds of each world")
	flag.IntVar(&o.random, "random", 100, "worlds drawn at random")
	flag.IntVar(&o.futures, "futures", 5, "futures that old share and calls are judged by the mean of")
	flag.StringVar(&o.only, "only", "", "the world of this name alone")
	flag.BoolVar(&o.loops, "loops", true, "closed loops as well")
	flag.BoolVar(&o.lines, "v", false, "each figure that is wrong")
	flag.Parse()
	o.run()
}

func (o *options) run() {
	tuned := o.tuned()
	o.judge("worlds that it was tuned on", tuned, o.seeds, advisetest.All)
	var random []advisetest.World
	for i := range o.random {
		random = append(random, advisetest.Random(o.from+uint64(i)))
	}
	o.judge("worlds drawn at random", random, 1, advisetest.All)
	o.instances(tuned)
	if o.loops {
		o.control(tuned)
	}
}

func (o *options) tuned() []advisetest.World {
	var out []advisetest.World
	for _, w := range advisetest.Worlds() {
		if o.only == "" || w.Name == o.only {
			out = append(out, w)
		}
	}
	return out
}

// judge prints a row for each world, and one of all.
func (o *options) judge(title string, worlds []advisetest.World, seeds int, by int) {
	fmt.Fprintf(o.out, "\n%s\n%-42s %4s %5s %5s %5s %s\n", title, "", "old", "seer", "calls", "bands", "of all; within the target (without chance) of advised; missed; to the longest")
	var all advisetest.Tally
	for i := range worlds {
		var sum advisetest.Tally
		for seed := range uint64(seeds) {
			v := worlds[i].Judge(o.from+seed, by, o.futures)
			sum.Add(v)
			o.wrong(v.Wrong)
		}
		all.Join(&sum)
		if seeds > 1 || o.lines {
			fmt.Fprintf(o.out, "%-42s %s\n", worlds[i].Name, &sum)
		}
	}
	fmt.Fprintf(o.out, "%-42s %s\n", "all", &all)
}

func (o *options) wrong(lines []string) {
	for _, line := range lines {
		if o.lines {
			fmt.Fprintln(o.out, "    "+line)
		}
	}
}

// instances prints what is lost if one of several advises from what it has seen alone.
func (o *options) instances(worlds []advisetest.World) {
	for i := range worlds {
		if w := &worlds[i]; w.Instances > 1 {
			o.judge("one instance of "+w.Name+", by what it has seen alone", worlds[i:i+1], o.seeds, advisetest.First)
		}
	}
}

func (o *options) control(worlds []advisetest.World) {
	fmt.Fprintf(o.out, "\nclosed loops\n%-42s %9s %6s %6s %s\n", "", "TTL", "old", "steps", "")
	reached, within, wrong := 0, 0, 0
	for i := range worlds {
		for seed := range uint64(o.seeds) {
			l := worlds[i].Control(o.from + seed)
			note := ""
			switch {
			case !l.Reached:
				note = "cannot be reached"
			case !l.Within:
				note = "too old"
			}
			if l.Reached {
				reached++
				if l.Within {
					within++
				}
			}
			wrong += len(l.Wrong)
			fmt.Fprintf(o.out, "%-42s %9v %5.1f%% %6d %s\n", worlds[i].Name, l.TTL.Round(time.Second), l.Older*100, l.Steps, note)
			o.wrong(l.Wrong)
		}
	}
	fmt.Fprintf(o.out, "within one and a half times the target: %d of %d; steps up while over twice the target: %d\n", within, reached, wrong)
}
