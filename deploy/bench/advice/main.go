// Command advice judges TTL advice by brute force, over worlds in which it is known when
// each content changes, and prints a table. It needs nothing but a core for some minutes:
//
//	go run ./deploy/bench/advice                       # known worlds, random ones, closed loops
//	go run ./deploy/bench/advice -seeds 5 -random 200 -v
//	go run ./deploy/bench/advice -only "long grace" -random 0 -v
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"sundry/cache/advise/advisetest"
)

// options are what the caller may choose.
type options struct {
	from                   uint64
	seeds, random, futures int
	only                   string
	predictions, loops     bool
	lines                  bool
	out                    io.Writer
}

func main() {
	o := &options{out: os.Stdout}
	flag.Uint64Var(&o.from, "from", 1000, "the first seed; it was tuned on those below 1000")
	flag.IntVar(&o.seeds, "seeds", 3, "seeds of each world")
	flag.IntVar(&o.random, "random", 100, "worlds drawn at random")
	flag.IntVar(&o.futures, "futures", 5, "futures that old share and calls are judged by the mean of")
	flag.StringVar(&o.only, "only", "", "the world of this name alone")
	flag.BoolVar(&o.predictions, "predictions", true, "predictions and advice")
	flag.BoolVar(&o.loops, "loops", true, "closed loops")
	flag.BoolVar(&o.lines, "v", false, "each figure that is wrong")
	flag.Parse()
	o.run()
}

func (o *options) run() {
	known := o.known()
	if o.predictions {
		o.judge("known worlds", known, o.seeds, advisetest.All)
		o.judge("worlds drawn at random", o.drawn(), 1, advisetest.All)
		o.instances(known)
	}
	if o.loops {
		o.control(known)
	}
}

func (o *options) known() []advisetest.World {
	return slices.DeleteFunc(advisetest.Worlds(), func(w advisetest.World) bool { return o.only != "" && w.Name != o.only })
}

func (o *options) drawn() []advisetest.World {
	var out []advisetest.World
	for i := range o.random {
		out = append(out, advisetest.Random(o.from+uint64(i)))
	}
	return out
}

// judge prints a row for each world, and one of all.
func (o *options) judge(title string, worlds []advisetest.World, seeds, by int) {
	_, _ = fmt.Fprintf(o.out, "\n%-42s %4s %5s %5s %5s\n", title, "old", "seer", "calls", "bands")
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
			_, _ = fmt.Fprintf(o.out, "%-42s %s\n", worlds[i].Name, &sum)
		}
	}
	_, _ = fmt.Fprintf(o.out, "%-42s %s\n", "all", &all)
}

func (o *options) wrong(lines []string) {
	for _, line := range lines {
		if o.lines {
			_, _ = fmt.Fprintln(o.out, "    "+line)
		}
	}
}

// instances prints what is lost if one of several advises from what it has seen alone.
func (o *options) instances(worlds []advisetest.World) {
	for i := range worlds {
		if worlds[i].Instances > 1 {
			o.judge("from what one instance has seen alone", worlds[i:i+1], o.seeds, advisetest.First)
		}
	}
}

func (o *options) control(worlds []advisetest.World) {
	_, _ = fmt.Fprintf(o.out, "\n%-42s %9s %6s %6s\n", "closed loops", "TTL", "old", "steps")
	var sum advisetest.LoopTally
	for i := range worlds {
		for seed := range uint64(o.seeds) {
			l := worlds[i].Control(o.from + seed)
			sum.Add(l)
			_, _ = fmt.Fprintf(o.out, "%-42s %s\n", worlds[i].Name, l)
			o.wrong(l.Wrong)
		}
	}
	_, _ = fmt.Fprintln(o.out, &sum)
}
